namespace Deadheat.AspNetCore.Worlds;

/// <summary>All worlds, from memory after the first time.</summary>
internal sealed class WorldCache
{
    private World[]? worlds;

    public async Task<List<World>> SomeAsync(int count, IWorldStore store, CancellationToken cancellation)
    {
        worlds ??= [.. await store.AllAsync(cancellation)];
        return [.. Random.Shared.GetItems(worlds, count)];
    }
}
