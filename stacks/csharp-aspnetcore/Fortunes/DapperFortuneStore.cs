using Dapper;
using Npgsql;

namespace Deadheat.AspNetCore.Fortunes;

/// <summary>Through SQL and Dapper.</summary>
internal sealed class DapperFortuneStore(NpgsqlDataSource database) : IFortuneStore
{
    private const string AllFortunes = "select id, message from fortune";

    public async Task<List<Fortune>> AllFortunesAsync(CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var query = new CommandDefinition(AllFortunes, cancellationToken: cancellation);
        var fortunes = await connection.QueryAsync<Fortune>(query);
        return fortunes.AsList();
    }
}
