using System.Net.Mime;
using Deadheat.AspNetCore.Payload;

namespace Deadheat.AspNetCore.Endpoints;

internal static class PayloadEndpoints
{
    public static void MapPayload(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/payload", () => Answer(PayloadWorker.Payload));
        routes.MapGet("/ping-pong", async (PayloadWorker worker, CancellationToken aborted) =>
            Answer(await worker.AskAsync(aborted)));
    }

    private static IResult Answer(ReadOnlyMemory<byte> payload) =>
        TypedResults.Bytes(payload, MediaTypeNames.Application.Octet);
}
