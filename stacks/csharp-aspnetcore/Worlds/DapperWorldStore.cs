using Dapper;
using Npgsql;

namespace Deadheat.AspNetCore.Worlds;

/// <summary>Through SQL and Dapper.</summary>
internal sealed class DapperWorldStore(NpgsqlDataSource database) : IWorldStore
{
    private const string Read = "select id, randomnumber from world where id = @id";
    private const string All = "select id, randomnumber from world";
    private const string Update =
        "update world set randomnumber = new.number " +
        "from unnest(@ids, @numbers) as new(id, number) where world.id = new.id";

    public async Task<List<World>> ReadAsync(IReadOnlyList<int> ids, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        return await ReadAsync(connection, ids, cancellation);
    }

    public async Task<List<World>> UpdateAsync(IReadOnlyList<int> ids, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        // PostgreSQL locks the rows in this order, so that two requests never wait for each other.
        var worlds = await ReadAsync(connection, ids.Order(), cancellation);
        worlds.ForEach(world => world.RandomNumber = RandomWorlds.OtherThan(world.RandomNumber));
        var values = new
        {
            ids = worlds.Select(world => world.Id).ToArray(),
            numbers = worlds.Select(world => world.RandomNumber).ToArray(),
        };
        await connection.ExecuteAsync(new CommandDefinition(Update, values, cancellationToken: cancellation));
        return worlds;
    }

    public async Task<List<World>> AllAsync(CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var worlds = await connection.QueryAsync<World>(new CommandDefinition(All, cancellationToken: cancellation));
        return worlds.AsList();
    }

    private static async Task<List<World>> ReadAsync(
        NpgsqlConnection connection, IEnumerable<int> ids, CancellationToken cancellation)
    {
        var worlds = new List<World>();
        foreach (var id in ids)
        {
            var query = new CommandDefinition(Read, new { id }, cancellationToken: cancellation);
            worlds.Add(await connection.QuerySingleAsync<World>(query));
        }
        return worlds;
    }
}
