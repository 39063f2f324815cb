using System.ComponentModel.DataAnnotations;

namespace Deadheat.AspNetCore.Items;

public sealed record Item(int Id, string Name, int Price);

/// <summary>What a client says of an item.</summary>
public sealed record ItemDraft
{
    [StringLength(100, MinimumLength = 1)]
    public required string Name { get; init; }

    [Range(0, 1_000_000)]
    public required int Price { get; init; }
}

internal interface IItemStore
{
    /// <summary>Null if there is none with this id.</summary>
    Task<Item?> FindAsync(int id, CancellationToken cancellation);

    /// <summary>The items with the lowest ids above <paramref name="after"/>.</summary>
    Task<List<Item>> ListAsync(int after, int limit, CancellationToken cancellation);

    Task<Item> CreateAsync(ItemDraft draft, CancellationToken cancellation);

    /// <summary>The item as it is now; null if there is none with this id.</summary>
    Task<Item?> ReplaceAsync(int id, ItemDraft draft, CancellationToken cancellation);

    /// <summary>Whether there was one.</summary>
    Task<bool> DeleteAsync(int id, CancellationToken cancellation);
}
