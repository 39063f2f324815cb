using Deadheat.AspNetCore.Fortunes;
using Deadheat.AspNetCore.Items;
using Deadheat.AspNetCore.Users;
using Deadheat.AspNetCore.Worlds;
using Microsoft.EntityFrameworkCore;
using Npgsql;

namespace Deadheat.AspNetCore.Database;

internal static class DatabaseServices
{
    public static void AddDatabase(this IServiceCollection services, Settings settings)
    {
        // Connects on first use, so that the server starts without a database.
        services.AddSingleton(provider =>
            new NpgsqlDataSourceBuilder(ConnectionString(settings))
                .UseLoggerFactory(provider.GetRequiredService<ILoggerFactory>())
                .Build());
        services.AddSingleton<WorldCache>();
        switch (settings.DataAccess)
        {
            case DataAccess.Ef:
                services.AddDbContextPool<DatabaseContext>((provider, options) =>
                    options.UseNpgsql(provider.GetRequiredService<NpgsqlDataSource>()));
                services.AddScoped<IUserStore, EfUserStore>();
                services.AddScoped<IFortuneStore, EfFortuneStore>();
                services.AddScoped<IItemStore, EfItemStore>();
                services.AddScoped<IWorldStore, EfWorldStore>();
                break;
            case DataAccess.Dapper:
                services.AddSingleton<IUserStore, DapperUserStore>();
                services.AddSingleton<IFortuneStore, DapperFortuneStore>();
                services.AddSingleton<IItemStore, DapperItemStore>();
                services.AddSingleton<IWorldStore, DapperWorldStore>();
                break;
            default:
                throw new InvalidOperationException($"no such data access: {settings.DataAccess}");
        }
    }

    /// <summary>Npgsql does not read URLs.</summary>
    private static string ConnectionString(Settings settings)
    {
        var url = settings.DatabaseUrl ?? throw new InvalidOperationException("DATABASE_URL is not set");
        var credentials = url.UserInfo.Split(':', 2);
        return new NpgsqlConnectionStringBuilder
        {
            Host = url.Host,
            Port = url.IsDefaultPort ? NpgsqlConnection.DefaultPort : url.Port,
            Database = Uri.UnescapeDataString(url.AbsolutePath.TrimStart('/')),
            Username = Uri.UnescapeDataString(credentials[0]),
            Password = credentials.Length > 1 ? Uri.UnescapeDataString(credentials[1]) : null,
            MaxPoolSize = settings.PoolSize,
            // Statements are prepared at their first use on a connection, and the session is not reset between uses: the
            // server changes nothing in it, and no proxy shares the connections.
            MaxAutoPrepare = 16,
            AutoPrepareMinUsages = 1,
            NoResetOnClose = true,
        }.ConnectionString;
    }
}
