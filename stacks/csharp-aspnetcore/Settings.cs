namespace Deadheat.AspNetCore;

/// <summary>The settings, all from the environment.</summary>
public sealed record Settings
{
    [ConfigurationKeyName("HOST")]
    public string Host { get; init; } = "127.0.0.1";

    [ConfigurationKeyName("PORT")]
    public int Port { get; init; } = 8080;

    [ConfigurationKeyName("TLS_PORT")]
    public int? TlsPort { get; init; }

    [ConfigurationKeyName("TLS_CERT")]
    public string TlsCertificate { get; init; } = "";

    [ConfigurationKeyName("TLS_KEY")]
    public string TlsKey { get; init; } = "";

    [ConfigurationKeyName("H2C_PORT")]
    public int? H2cPort { get; init; }

    [ConfigurationKeyName("BLOB_PATH")]
    public string? BlobPath { get; init; }

    [ConfigurationKeyName("STATIC_DIR")]
    public string? StaticDir { get; init; }

    [ConfigurationKeyName("DATABASE_URL")]
    public Uri? DatabaseUrl { get; init; }

    [ConfigurationKeyName("DATA_ACCESS")]
    public DataAccess DataAccess { get; init; } = DataAccess.Ef;

    [ConfigurationKeyName("POOL_SIZE")]
    public int PoolSize { get; init; } = 16;

    [ConfigurationKeyName("UPSTREAM_URL")]
    public Uri? UpstreamUrl { get; init; }
}

/// <summary>How the database is reached.</summary>
public enum DataAccess
{
    Ef,
    Dapper,
}
