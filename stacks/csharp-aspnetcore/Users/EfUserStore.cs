using Deadheat.AspNetCore.Database;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Users;

/// <summary>Through Entity Framework Core.</summary>
internal sealed class EfUserStore(DatabaseContext context) : IUserStore
{
    public Task<List<User>> FirstUsersAsync(CancellationToken cancellation) =>
        context.Users.AsNoTracking().OrderBy(user => user.Id).Take(10).ToListAsync(cancellation);
}
