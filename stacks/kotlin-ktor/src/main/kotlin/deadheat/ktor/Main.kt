package deadheat.ktor

import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.engine.sslConnector
import io.ktor.server.netty.Netty
import io.ktor.server.netty.NettyApplicationEngine

/** Starts the server, which ends on SIGTERM. */
fun main() {
    val settings = Settings.from(System.getenv())
    embeddedServer(Netty, configure = { listen(settings) }) { module(settings) }.start(wait = true)
}

private fun NettyApplicationEngine.Configuration.listen(settings: Settings) {
    connector {
        host = settings.host
        port = settings.port
    }
    settings.tls?.let { tls ->
        // HTTP/2 or HTTP/1.1, whichever the client chooses in the handshake.
        sslConnector(keyStore(tls), KEY_ALIAS, { charArrayOf() }, { charArrayOf() }) {
            host = settings.host
            port = tls.port
        }
    }
}
