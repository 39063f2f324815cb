namespace Deadheat.AspNetCore.Endpoints;

internal static class PlaintextEndpoint
{
    public static void MapPlaintext(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/plaintext", () => TypedResults.Text("Hello, World!"));
}
