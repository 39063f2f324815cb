using Deadheat.AspNetCore.Database;
using Microsoft.EntityFrameworkCore;

namespace Deadheat.AspNetCore.Fortunes;

/// <summary>Through Entity Framework Core.</summary>
internal sealed class EfFortuneStore(DatabaseContext context) : IFortuneStore
{
    public Task<List<Fortune>> AllFortunesAsync(CancellationToken cancellation) =>
        context.Fortunes.AsNoTracking().ToListAsync(cancellation);
}
