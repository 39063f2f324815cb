namespace Deadheat.AspNetCore.Fortunes;

public sealed record Fortune(int Id, string Message);

internal interface IFortuneStore
{
    /// <summary>All fortunes, in no order.</summary>
    Task<List<Fortune>> AllFortunesAsync(CancellationToken cancellation);
}
