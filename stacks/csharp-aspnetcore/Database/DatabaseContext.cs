using Deadheat.AspNetCore.Fortunes;
using Deadheat.AspNetCore.Users;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Database;

internal sealed class DatabaseContext(DbContextOptions<DatabaseContext> options) : DbContext(options)
{
    public DbSet<User> Users => Set<User>();

    public DbSet<Fortune> Fortunes => Set<Fortune>();

    protected override void OnModelCreating(ModelBuilder model)
    {
        model.Entity<User>(user =>
        {
            user.ToTable("users");
            user.Property(row => row.Id).HasColumnName("id");
            user.Property(row => row.Email).HasColumnName("email");
        });
        model.Entity<Fortune>(fortune =>
        {
            fortune.ToTable("fortune");
            fortune.Property(row => row.Id).HasColumnName("id");
            fortune.Property(row => row.Message).HasColumnName("message");
        });
    }
}
