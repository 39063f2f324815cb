using Dapper;
using Npgsql;

namespace Deadheat.AspNetCore.Items;

/// <summary>Through SQL and Dapper.</summary>
internal sealed class DapperItemStore(NpgsqlDataSource database) : IItemStore
{
    private const string Find = "select id, name, price from items where id = @id";
    private const string List = "select id, name, price from items where id > @after order by id limit @limit";
    private const string Create = "insert into items (name, price) values (@Name, @Price) returning id, name, price";
    private const string Replace =
        "update items set name = @Name, price = @Price where id = @id returning id, name, price";
    private const string Delete = "delete from items where id = @id";

    public async Task<Item?> FindAsync(int id, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var query = new CommandDefinition(Find, new { id }, cancellationToken: cancellation);
        return await connection.QuerySingleOrDefaultAsync<Item>(query);
    }

    public async Task<List<Item>> ListAsync(int after, int limit, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var query = new CommandDefinition(List, new { after, limit }, cancellationToken: cancellation);
        var items = await connection.QueryAsync<Item>(query);
        return items.AsList();
    }

    public async Task<Item> CreateAsync(ItemDraft draft, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var command = new CommandDefinition(Create, draft, cancellationToken: cancellation);
        return await connection.QuerySingleAsync<Item>(command);
    }

    public async Task<Item?> ReplaceAsync(int id, ItemDraft draft, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var parameters = new { id, draft.Name, draft.Price };
        var command = new CommandDefinition(Replace, parameters, cancellationToken: cancellation);
        return await connection.QuerySingleOrDefaultAsync<Item>(command);
    }

    public async Task<bool> DeleteAsync(int id, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var command = new CommandDefinition(Delete, new { id }, cancellationToken: cancellation);
        return await connection.ExecuteAsync(command) != 0;
    }
}
