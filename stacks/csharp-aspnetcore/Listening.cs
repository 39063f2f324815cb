using System.Net;

namespace Deadheat.AspNetCore;

internal static class Listening
{
    // Hundreds of clients may connect in the same moment; Kestrel's default of 512 leaves little room.
    private const int Backlog = 4096;
    private const long MaxBodySize = 1 << 20;

    public static void ListenOn(this ConfigureWebHostBuilder host, Settings settings)
    {
        host.UseSockets(options => options.Backlog = Backlog);
        host.ConfigureKestrel(options =>
        {
            options.Limits.MaxRequestBodySize = MaxBodySize;
            options.Listen(IPAddress.Parse(settings.Host), settings.Port);
        });
    }
}
