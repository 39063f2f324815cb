namespace Deadheat.AspNetCore.Worlds;

/// <summary>Random ids and numbers, which are in the same range.</summary>
internal static class RandomWorlds
{
    private const int Count = 10_000;

    public static int Id() => Random.Shared.Next(Count) + 1;

    /// <summary>So many ids that differ from each other.</summary>
    public static int[] Ids(int count)
    {
        var ids = new HashSet<int>(count);
        while (ids.Count < count)
        {
            ids.Add(Id());
        }
        return [.. ids];
    }

    /// <summary>A number that a world does not have now.</summary>
    public static int OtherThan(int number)
    {
        var other = Id();
        while (other == number)
        {
            other = Id();
        }
        return other;
    }
}
