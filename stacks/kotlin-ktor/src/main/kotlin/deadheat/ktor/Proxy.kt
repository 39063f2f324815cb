package deadheat.ktor

import io.ktor.client.HttpClient
import io.ktor.client.engine.apache5.Apache5
import io.ktor.client.request.get
import io.ktor.client.statement.bodyAsBytes
import io.ktor.http.HttpStatusCode
import io.ktor.http.contentType
import io.ktor.http.isSuccess
import io.ktor.server.application.ApplicationStopped
import io.ktor.server.application.log
import io.ktor.server.response.respond
import io.ktor.server.response.respondBytes
import io.ktor.server.routing.Route
import io.ktor.server.routing.application
import io.ktor.server.routing.get
import java.io.IOException

private const val CONNECT_TIMEOUT_MS = 2_000L

/** A slow upstream, relayed. */
fun Route.proxy(upstreamUrl: String) {
    val client = upstreamClient()
    application.monitor.subscribe(ApplicationStopped) { client.close() }
    get("/proxy") {
        val answer =
            try {
                client.get(upstreamUrl)
            } catch (cause: IOException) {
                call.application.log.warn("the upstream failed", cause)
                return@get call.respond(HttpStatusCode.BadGateway)
            }
        if (answer.status.isSuccess()) {
            call.respondBytes(answer.bodyAsBytes(), answer.contentType())
        } else {
            call.respond(HttpStatusCode.BadGateway)
        }
    }
}

/** It keeps its connections, up to 1,000 of them by default. */
private fun upstreamClient() =
    HttpClient(Apache5) {
        followRedirects = false
        engine {
            connectTimeout = CONNECT_TIMEOUT_MS
            customizeClient { disableAutomaticRetries() }
        }
    }
