using Deadheat.AspNetCore.Fortunes;
using Deadheat.AspNetCore.Items;
using Deadheat.AspNetCore.Users;
using Deadheat.AspNetCore.Worlds;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Database;

internal sealed class DatabaseContext(DbContextOptions<DatabaseContext> options) : DbContext(options)
{
    public DbSet<User> Users => Set<User>();

    public DbSet<Fortune> Fortunes => Set<Fortune>();

    public DbSet<Item> Items => Set<Item>();

    public DbSet<World> Worlds => Set<World>();

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
        model.Entity<Item>(item =>
        {
            item.ToTable("items");
            item.Property(row => row.Id).HasColumnName("id");
            item.Property(row => row.Name).HasColumnName("name");
            item.Property(row => row.Price).HasColumnName("price");
        });
        model.Entity<World>(world =>
        {
            world.ToTable("world");
            world.Property(row => row.Id).HasColumnName("id");
            world.Property(row => row.RandomNumber).HasColumnName("randomnumber");
        });
    }
}
