package deadheat.ktor

import io.ktor.http.ContentType
import io.ktor.server.response.respondBytes
import io.ktor.server.routing.Route
import io.ktor.server.routing.application
import io.ktor.server.routing.get

private const val PAYLOAD_SIZE = 1 shl 20

/** One mebibyte, written directly or handed over by a worker. */
fun Route.payloads() {
    val payload = ByteArray(PAYLOAD_SIZE) { 'd'.code.toByte() }
    val worker = Worker(application, payload)
    get("/payload") {
        call.respondBytes(payload, ContentType.Application.OctetStream)
    }
    get("/ping-pong") {
        call.respondBytes(worker.ask(), ContentType.Application.OctetStream)
    }
}
