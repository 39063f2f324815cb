package deadheat.ktor

import io.ktor.server.plugins.BadRequestException
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import java.nio.file.Path
import java.security.MessageDigest
import kotlin.io.encoding.Base64
import kotlin.io.path.readBytes

private const val MAX_ROUNDS = 1_000_000

/** A file's digest, digested again and again, away from the event loops. */
fun Route.digests(blobPath: Path) {
    get("/bytes") {
        val rounds =
            call.queryParameters["rounds"]?.toIntOrNull()?.takeIf { it in 1..MAX_ROUNDS }
                ?: throw BadRequestException("rounds must be a number from 1 to $MAX_ROUNDS")
        val blob = withContext(Dispatchers.IO) { blobPath.readBytes() }
        val digest = withContext(Dispatchers.Default) { sha256Chain(blob, rounds) }
        call.respondText(Base64.encode(digest))
    }
}

/** SHA-256 of the data, then of the digest, so many times in all. */
private fun sha256Chain(
    data: ByteArray,
    rounds: Int,
): ByteArray {
    val sha256 = MessageDigest.getInstance("SHA-256")
    var digest = data
    repeat(rounds) {
        digest = sha256.digest(digest)
    }
    return digest
}
