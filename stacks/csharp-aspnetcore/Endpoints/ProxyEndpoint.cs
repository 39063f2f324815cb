using System.Net.Mime;
using Deadheat.AspNetCore.Upstream;

namespace Deadheat.AspNetCore.Endpoints;

internal static class ProxyEndpoint
{
    public static void MapProxy(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/proxy", async Task<IResult> (
            UpstreamClient upstream, ILogger<UpstreamClient> log, CancellationToken aborted) =>
        {
            try
            {
                var answer = await upstream.GetAsync(aborted);
                return TypedResults.Bytes(answer.Body, answer.ContentType ?? MediaTypeNames.Text.Plain);
            }
            catch (Exception error) when (error is HttpRequestException or TimeoutException)
            {
                log.LogError(error, "the upstream failed");
                return TypedResults.Problem("the upstream failed", statusCode: StatusCodes.Status502BadGateway);
            }
        });
}
