package deadheat.ktor

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch

/** A coroutine that answers every message with the same value. */
class Worker<T>(
    scope: CoroutineScope,
    answer: T,
) {
    private val mailbox = Channel<CompletableDeferred<T>>()

    init {
        scope.launch {
            for (reply in mailbox) {
                reply.complete(answer)
            }
        }
    }

    suspend fun ask(): T {
        val reply = CompletableDeferred<T>()
        mailbox.send(reply)
        return reply.await()
    }
}
