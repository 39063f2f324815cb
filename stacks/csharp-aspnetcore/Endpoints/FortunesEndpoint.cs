using Deadheat.AspNetCore.Components;
using Deadheat.AspNetCore.Fortunes;
using Microsoft.AspNetCore.Http.HttpResults;

namespace Deadheat.AspNetCore.Endpoints;

internal static class FortunesEndpoint
{
    public static void MapFortunes(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/fortunes", PageAsync);

    public static async Task<RazorComponentResult<FortunesPage>> PageAsync(
        IFortuneStore store, CancellationToken aborted)
    {
        var fortunes = await store.AllFortunesAsync(aborted);
        fortunes.Add(new(0, "Additional fortune added at request time."));
        fortunes.Sort((one, other) => string.CompareOrdinal(one.Message, other.Message));
        return new RazorComponentResult<FortunesPage>(new { Fortunes = fortunes });
    }
}
