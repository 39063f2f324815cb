using Deadheat.AspNetCore.Users;

namespace Deadheat.AspNetCore.Endpoints;

internal static class UsersEndpoint
{
    public static void MapUsers(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/users", (IUserStore users, CancellationToken aborted) => users.FirstUsersAsync(aborted));
}
