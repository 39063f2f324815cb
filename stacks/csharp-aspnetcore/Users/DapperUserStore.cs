using Dapper;
using Npgsql;

namespace Deadheat.AspNetCore.Users;

/// <summary>Through SQL and Dapper.</summary>
internal sealed class DapperUserStore(NpgsqlDataSource database) : IUserStore
{
    private const string FirstUsers = "select id, email from users order by id limit 10";

    public async Task<List<User>> FirstUsersAsync(CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var query = new CommandDefinition(FirstUsers, cancellationToken: cancellation);
        var users = await connection.QueryAsync<User>(query);
        return users.AsList();
    }
}
