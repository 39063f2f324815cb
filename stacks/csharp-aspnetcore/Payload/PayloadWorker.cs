using System.Threading.Channels;

namespace Deadheat.AspNetCore.Payload;

/// <summary>A task that hands the payload over: requests reach it through a channel.</summary>
internal sealed class PayloadWorker : BackgroundService
{
    public static readonly ReadOnlyMemory<byte> Payload = Enumerable.Repeat((byte)'d', 1 << 20).ToArray();

    // Every request waits for its answer, so that the channel never holds more than there are requests.
    private readonly Channel<TaskCompletionSource<ReadOnlyMemory<byte>>> mailbox =
        Channel.CreateUnbounded<TaskCompletionSource<ReadOnlyMemory<byte>>>(new() { SingleReader = true });

    public async Task<ReadOnlyMemory<byte>> AskAsync(CancellationToken cancellation)
    {
        // The requests go on in threads of their own: the worker shall not write the answers.
        var reply = new TaskCompletionSource<ReadOnlyMemory<byte>>(TaskCreationOptions.RunContinuationsAsynchronously);
        await mailbox.Writer.WriteAsync(reply, cancellation);
        return await reply.Task.WaitAsync(cancellation);
    }

    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        await foreach (var reply in mailbox.Reader.ReadAllAsync(stopping))
        {
            reply.SetResult(Payload);
        }
    }
}

internal static class PayloadServices
{
    public static void AddPayloadWorker(this IServiceCollection services)
    {
        services.AddSingleton<PayloadWorker>();
        services.AddHostedService(provider => provider.GetRequiredService<PayloadWorker>());
    }
}
