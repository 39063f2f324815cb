namespace Deadheat.AspNetCore.Upstream;

/// <summary>What the upstream answered.</summary>
internal sealed record UpstreamAnswer(byte[] Body, string? ContentType);

/// <summary>A client of the slow upstream.</summary>
internal sealed class UpstreamClient(HttpClient http)
{
    /// <summary>Reads the whole body: it is short, and a failure on the way must become a 502.</summary>
    /// <exception cref="HttpRequestException">It could not be reached, or did not answer with 2xx.</exception>
    /// <exception cref="TimeoutException">It did not answer in time.</exception>
    public async Task<UpstreamAnswer> GetAsync(CancellationToken cancellation)
    {
        try
        {
            using var response = await http.GetAsync((Uri?)null, cancellation);
            response.EnsureSuccessStatusCode();
            var body = await response.Content.ReadAsByteArrayAsync(cancellation);
            return new(body, response.Content.Headers.ContentType?.ToString());
        }
        catch (OperationCanceledException canceled) when (canceled.InnerException is TimeoutException timeout)
        {
            throw timeout;
        }
    }
}

internal static class UpstreamServices
{
    public static void AddUpstream(this IServiceCollection services, Settings settings) =>
        services
            .AddHttpClient<UpstreamClient>(client =>
            {
                client.BaseAddress = settings.UpstreamUrl;
                client.Timeout = TimeSpan.FromSeconds(10);
            })
            // Opens as many connections as there are requests under way, and keeps them. The handler stays as long as
            // the server; its connections are renewed instead, for the sake of DNS.
            .UseSocketsHttpHandler((handler, _) =>
            {
                handler.UseCookies = false;
                handler.UseProxy = false;
                handler.AllowAutoRedirect = false;
                handler.PooledConnectionLifetime = TimeSpan.FromMinutes(15);
            })
            .SetHandlerLifetime(Timeout.InfiniteTimeSpan)
            .RemoveAllLoggers();
}
