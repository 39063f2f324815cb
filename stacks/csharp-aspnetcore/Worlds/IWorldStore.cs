namespace Deadheat.AspNetCore.Worlds;

public sealed class World
{
    public int Id { get; init; }

    public int RandomNumber { get; set; }
}

internal interface IWorldStore
{
    /// <summary>The worlds with these ids, each by a statement of its own.</summary>
    Task<List<World>> ReadAsync(IReadOnlyList<int> ids, CancellationToken cancellation);

    /// <summary>The same with a new number in each, which is in the database then.</summary>
    Task<List<World>> UpdateAsync(IReadOnlyList<int> ids, CancellationToken cancellation);

    /// <summary>All worlds.</summary>
    Task<List<World>> AllAsync(CancellationToken cancellation);
}
