package deadheat.ktor

import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.defaultheaders.DefaultHeaders
import io.ktor.server.routing.routing
import kotlinx.serialization.json.Json

/** What this server does. `/users` and `/proxy` are there if the service behind them is configured. */
fun Application.module(settings: Settings) {
    install(DefaultHeaders)
    install(ContentNegotiation) {
        // Ktor's default is lenient: it would take 7 for "7".
        json(Json { ignoreUnknownKeys = true })
    }
    routing {
        greetings()
        payloads()
        digests(settings.blobPath)
        settings.databaseUrl?.let { users(it, settings.poolSize) }
        settings.upstreamUrl?.let { proxy(it) }
    }
}
