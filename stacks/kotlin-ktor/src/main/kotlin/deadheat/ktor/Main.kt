package deadheat.ktor

import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty

/** Starts the server, which ends on SIGTERM. */
fun main() {
    val settings = Settings.from(System.getenv())
    embeddedServer(
        Netty,
        host = settings.host,
        port = settings.port,
    ) {
        module(settings)
    }.start(wait = true)
}
