using Deadheat.AspNetCore.Database;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Worlds;

/// <summary>Through Entity Framework Core.</summary>
internal sealed class EfWorldStore(DatabaseContext context) : IWorldStore
{
    public Task<List<World>> ReadAsync(IReadOnlyList<int> ids, CancellationToken cancellation) =>
        ReadAsync(context.Worlds.AsNoTracking(), ids, cancellation);

    public async Task<List<World>> UpdateAsync(IReadOnlyList<int> ids, CancellationToken cancellation)
    {
        var worlds = await ReadAsync(context.Worlds.AsTracking(), ids, cancellation);
        // What is tracked and has not changed would not be written.
        worlds.ForEach(world => world.RandomNumber = RandomWorlds.OtherThan(world.RandomNumber));
        // In the order of their ids, so that two requests never wait for each other.
        await context.SaveChangesAsync(cancellation);
        return worlds;
    }

    public Task<List<World>> AllAsync(CancellationToken cancellation) =>
        context.Worlds.AsNoTracking().ToListAsync(cancellation);

    private static async Task<List<World>> ReadAsync(
        IQueryable<World> from, IReadOnlyList<int> ids, CancellationToken cancellation)
    {
        var worlds = new List<World>(ids.Count);
        foreach (var id in ids)
        {
            worlds.Add(await from.SingleAsync(world => world.Id == id, cancellation));
        }
        return worlds;
    }
}
