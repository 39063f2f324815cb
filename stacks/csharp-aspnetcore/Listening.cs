using System.Net;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Core;

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
            var address = IPAddress.Parse(settings.Host);
            options.Listen(address, settings.Port);
            if (settings.TlsPort is { } tlsPort)
            {
                // HTTP/2 or HTTP/1.1, whichever the client chooses in the handshake.
                var certificate = X509Certificate2.CreateFromPemFile(settings.TlsCertificate, settings.TlsKey);
                options.Listen(address, tlsPort, listen => listen.UseHttps(certificate));
            }

            if (settings.H2cPort is { } h2cPort)
            {
                options.Listen(address, h2cPort, listen => listen.Protocols = HttpProtocols.Http2);
            }
        });
    }
}
