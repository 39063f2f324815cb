using Microsoft.Extensions.FileProviders;

namespace Deadheat.AspNetCore.Endpoints;

internal static class StaticFiles
{
    /// <summary>Serves a folder outside the application, with the ETags and ranges of ASP.NET Core.</summary>
    public static void UseStaticFolder(this WebApplication app, Settings settings)
    {
        if (settings.StaticDir is not null)
        {
            app.UseStaticFiles(new StaticFileOptions
            {
                FileProvider = new PhysicalFileProvider(settings.StaticDir),
                RequestPath = "/static",
            });
        }
    }
}
