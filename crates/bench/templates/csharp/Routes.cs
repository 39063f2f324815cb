namespace Server;

/// <summary>The routes, on ASP.NET Core's minimal APIs until {{framework}} takes their place.</summary>
internal static class Routes
{
    public static void MapRoutes(this IEndpointRouteBuilder app) =>
        app.MapGet("/plaintext", () => Results.Text("Hello, World!"));
}
