package deadheat.ktor

import io.ktor.server.plugins.PayloadTooLargeException
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.post
import io.ktor.utils.io.readAvailable
import java.security.MessageDigest
import kotlin.io.encoding.Base64

private const val MAX_UPLOAD_BYTES = 16L shl 20
private const val PIECE_BYTES = 64 * 1024

/** Bodies that are hashed as they come. The channel is the request's own, which is not buffered. */
fun Route.uploads() {
    post("/upload") {
        val body = call.request.receiveChannel()
        val sha256 = MessageDigest.getInstance("SHA-256")
        val piece = ByteArray(PIECE_BYTES)
        var total = 0L
        while (true) {
            val length = body.readAvailable(piece)
            if (length < 0) break
            total += length
            if (total > MAX_UPLOAD_BYTES) throw PayloadTooLargeException(MAX_UPLOAD_BYTES)
            sha256.update(piece, 0, length)
        }
        call.respondText(Base64.encode(sha256.digest()))
    }
}
