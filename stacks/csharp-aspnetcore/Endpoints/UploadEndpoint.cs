using System.Security.Cryptography;
using Microsoft.AspNetCore.Mvc;

namespace Deadheat.AspNetCore.Endpoints;

internal static class UploadEndpoint
{
    private const int MaxBytes = 16 << 20;

    /// <summary>Hashes the body as it comes.</summary>
    public static void MapUpload(this IEndpointRouteBuilder routes) =>
        routes.MapPost("/upload", async (HttpRequest request, CancellationToken aborted) =>
        {
            var digest = await SHA256.HashDataAsync(request.Body, aborted);
            return TypedResults.Text(Convert.ToBase64String(digest));
        }).WithMetadata(new RequestSizeLimitAttribute(MaxBytes));
}
