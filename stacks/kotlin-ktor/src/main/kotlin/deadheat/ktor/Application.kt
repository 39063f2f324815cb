package deadheat.ktor

import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.ApplicationStopped
import io.ktor.server.application.call
import io.ktor.server.application.install
import io.ktor.server.plugins.PayloadTooLargeException
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.defaultheaders.DefaultHeaders
import io.ktor.server.request.ApplicationReceivePipeline
import io.ktor.server.request.contentLength
import io.ktor.server.routing.routing
import io.ktor.utils.io.ByteReadChannel
import io.ktor.utils.io.core.remaining
import io.ktor.utils.io.readRemaining
import kotlinx.serialization.json.Json

private const val MAX_BODY_BYTES = 1L shl 20

/** What this server does. What needs another service is there if that is configured. */
fun Application.module(settings: Settings) {
    install(DefaultHeaders)
    limitBodies()
    install(ContentNegotiation) {
        // Ktor's default is lenient: it would take 7 for "7".
        json(Json { ignoreUnknownKeys = true })
    }
    val database = settings.databaseUrl?.let { Database(it, settings.poolSize) }
    monitor.subscribe(ApplicationStopped) { database?.close() }
    routing {
        greetings()
        files(settings.staticDir)
        products()
        uploads()
        payloads()
        digests(settings.blobPath)
        database?.let {
            users(it)
            fortunes(it)
            items(it)
        }
        settings.upstreamUrl?.let { proxy(it) }
    }
}

/**
 * Refuses longer bodies with 413: by their Content-Length if they have one, otherwise as they are
 * read. They are buffered whole, as JSON needs them. This is all that a server of such small bodies
 * needs of Ktor's RequestBodyLimit plugin, which is an artifact of its own.
 */
private fun Application.limitBodies() {
    receivePipeline.intercept(ApplicationReceivePipeline.Before) { body ->
        if (body !is ByteReadChannel) return@intercept
        val declared = call.request.contentLength() ?: 0
        if (declared > MAX_BODY_BYTES) throw PayloadTooLargeException(MAX_BODY_BYTES)
        val limited = body.readRemaining(MAX_BODY_BYTES + 1)
        if (limited.remaining > MAX_BODY_BYTES) throw PayloadTooLargeException(MAX_BODY_BYTES)
        proceedWith(ByteReadChannel(limited))
    }
}
