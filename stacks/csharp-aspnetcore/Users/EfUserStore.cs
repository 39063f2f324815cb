using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Users;

/// <summary>Through Entity Framework Core.</summary>
internal sealed class EfUserStore(UsersContext context) : IUserStore
{
    public Task<List<User>> FirstUsersAsync(CancellationToken cancellation) =>
        context.Users.AsNoTracking().OrderBy(user => user.Id).Take(10).ToListAsync(cancellation);
}

internal sealed class UsersContext(DbContextOptions<UsersContext> options) : DbContext(options)
{
    public DbSet<User> Users => Set<User>();

    protected override void OnModelCreating(ModelBuilder model) =>
        model.Entity<User>(user =>
        {
            user.ToTable("users");
            user.Property(row => row.Id).HasColumnName("id");
            user.Property(row => row.Email).HasColumnName("email");
        });
}
