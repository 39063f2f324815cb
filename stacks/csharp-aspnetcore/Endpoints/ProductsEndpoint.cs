using Microsoft.Net.Http.Headers;

namespace Deadheat.AspNetCore.Endpoints;

internal sealed record Product(int Id, string Name, string Category, int Price, int Stock)
{
    private static readonly string[] Categories = ["books", "garden", "kitchen", "music", "tools"];

    public static Product Of(int id) =>
        new(id, $"Product {id}", Categories[id % Categories.Length], id * 37 % 10_007, id * 31 % 101);
}

internal static class ProductsEndpoint
{
    public const string Path = "/products";

    private const int Count = 100;
    private const int MaxFrom = 1_000_000;

    public static void MapProducts(this IEndpointRouteBuilder routes) =>
        routes.MapGet(Path, IResult (int from, HttpResponse response) =>
        {
            if (from is < 1 or > MaxFrom)
            {
                return TypedResults.Problem(
                    $"from must be a number from 1 to {MaxFrom}", statusCode: StatusCodes.Status400BadRequest);
            }
            // The compression says so to clients alone that accept some.
            response.Headers.Vary = HeaderNames.AcceptEncoding;
            return TypedResults.Ok(Enumerable.Range(from, Count).Select(Product.Of).ToArray());
        });
}
