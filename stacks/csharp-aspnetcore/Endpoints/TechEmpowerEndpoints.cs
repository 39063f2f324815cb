using Deadheat.AspNetCore.Worlds;

namespace Deadheat.AspNetCore.Endpoints;

internal sealed record Greeting(string Message);

/// <summary>The tests of TechEmpower's Framework Benchmarks.</summary>
internal static class TechEmpowerEndpoints
{
    private const int MaxCount = 500;

    public static void MapTechEmpower(this IEndpointRouteBuilder routes)
    {
        var tests = routes.MapGroup("/techempower");
        tests.MapGet("/json", () => new Greeting("Hello, World!"));
        tests.MapGet("/plaintext", () => TypedResults.Text("Hello, World!"));
        tests.MapGet("/db", async (IWorldStore store, CancellationToken aborted) =>
            (await store.ReadAsync([RandomWorlds.Id()], aborted))[0]);
        tests.MapGet("/queries", (string? queries, IWorldStore store, CancellationToken aborted) =>
            store.ReadAsync(RandomWorlds.Ids(Count(queries)), aborted));
        tests.MapGet("/fortunes", FortunesEndpoint.PageAsync);
        tests.MapGet("/updates", (string? queries, IWorldStore store, CancellationToken aborted) =>
            store.UpdateAsync(RandomWorlds.Ids(Count(queries)), aborted));
        tests.MapGet("/cached-queries", (
            string? count, WorldCache cache, IWorldStore store, CancellationToken aborted) =>
            cache.SomeAsync(Count(count), store, aborted));
    }

    /// <summary>The number that a request asks for: 1 to 500, and 1 for anything that is no number.</summary>
    private static int Count(string? text) =>
        int.TryParse(text, out var count) ? Math.Clamp(count, 1, MaxCount) : 1;
}
