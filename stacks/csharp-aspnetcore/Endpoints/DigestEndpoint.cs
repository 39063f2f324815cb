using System.Security.Cryptography;

namespace Deadheat.AspNetCore.Endpoints;

internal static class DigestEndpoint
{
    private const int MaxRounds = 1_000_000;

    public static void MapDigest(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/bytes", async Task<IResult> (int rounds, Settings settings, CancellationToken aborted) =>
        {
            if (rounds is < 1 or > MaxRounds)
            {
                return TypedResults.Problem(
                    $"rounds must be a number from 1 to {MaxRounds}", statusCode: StatusCodes.Status400BadRequest);
            }
            var path = settings.BlobPath ?? throw new InvalidOperationException("BLOB_PATH is not set");
            var content = await File.ReadAllBytesAsync(path, aborted);
            return TypedResults.Text(Convert.ToBase64String(Digest(content, rounds)));
        });

    private static byte[] Digest(byte[] content, int rounds)
    {
        var digest = SHA256.HashData(content);
        for (var round = 1; round < rounds; round++)
        {
            SHA256.HashData(digest, digest);
        }
        return digest;
    }
}
