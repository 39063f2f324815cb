using System.ComponentModel.DataAnnotations;
using Deadheat.AspNetCore.Items;
using Microsoft.AspNetCore.Http.HttpResults;

namespace Deadheat.AspNetCore.Endpoints;

internal static class ItemsEndpoints
{
    private const string One = "/{id:int:min(1)}";

    public static void MapItems(this IEndpointRouteBuilder routes)
    {
        var items = routes.MapGroup("/items");
        items.MapGet("", (
            IItemStore store,
            CancellationToken aborted,
            [Range(0, int.MaxValue)] int after = 0,
            [Range(1, 100)] int limit = 20) => store.ListAsync(after, limit, aborted));
        items.MapGet(One, async (int id, IItemStore store, CancellationToken aborted) =>
            Found(await store.FindAsync(id, aborted)));
        items.MapPost("", async (ItemDraft draft, IItemStore store, CancellationToken aborted) =>
        {
            var item = await store.CreateAsync(draft, aborted);
            return TypedResults.Created($"/items/{item.Id}", item);
        });
        items.MapPut(One, async (int id, ItemDraft draft, IItemStore store, CancellationToken aborted) =>
            Found(await store.ReplaceAsync(id, draft, aborted)));
        items.MapDelete(One, async Task<Results<NoContent, NotFound>> (
            int id, IItemStore store, CancellationToken aborted) =>
            await store.DeleteAsync(id, aborted) ? TypedResults.NoContent() : TypedResults.NotFound());
    }

    private static Results<Ok<Item>, NotFound> Found(Item? item) =>
        item is null ? TypedResults.NotFound() : TypedResults.Ok(item);
}
