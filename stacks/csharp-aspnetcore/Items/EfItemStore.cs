using Deadheat.AspNetCore.Database;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Items;

/// <summary>Through Entity Framework Core.</summary>
internal sealed class EfItemStore(DatabaseContext context) : IItemStore
{
    public Task<Item?> FindAsync(int id, CancellationToken cancellation) =>
        context.Items.AsNoTracking().SingleOrDefaultAsync(item => item.Id == id, cancellation);

    public Task<List<Item>> ListAsync(int after, int limit, CancellationToken cancellation) =>
        context.Items.AsNoTracking()
            .Where(item => item.Id > after)
            .OrderBy(item => item.Id)
            .Take(limit)
            .ToListAsync(cancellation);

    public async Task<Item> CreateAsync(ItemDraft draft, CancellationToken cancellation)
    {
        // The database chooses the id, and Entity Framework Core sets it.
        var item = new Item(0, draft.Name, draft.Price);
        context.Items.Add(item);
        await context.SaveChangesAsync(cancellation);
        return item;
    }

    public async Task<Item?> ReplaceAsync(int id, ItemDraft draft, CancellationToken cancellation)
    {
        var replaced = await context.Items
            .Where(item => item.Id == id)
            .ExecuteUpdateAsync(
                setters => setters
                    .SetProperty(item => item.Name, draft.Name)
                    .SetProperty(item => item.Price, draft.Price),
                cancellation);
        return replaced == 0 ? null : new Item(id, draft.Name, draft.Price);
    }

    public async Task<bool> DeleteAsync(int id, CancellationToken cancellation) =>
        await context.Items.Where(item => item.Id == id).ExecuteDeleteAsync(cancellation) != 0;
}
