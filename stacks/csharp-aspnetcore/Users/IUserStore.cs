namespace Deadheat.AspNetCore.Users;

public sealed record User(int Id, string Email);

internal interface IUserStore
{
    /// <summary>The ten users with the lowest ids.</summary>
    Task<List<User>> FirstUsersAsync(CancellationToken cancellation);
}
