package deadheat.ktor

import java.io.File
import java.net.URI
import java.nio.file.Path

/** The settings, all from the environment. */
class Settings(
    val host: String,
    val port: Int,
    val tls: Tls?,
    val poolSize: Int,
    val blobPath: Path,
    val staticDir: File,
    val databaseUrl: URI?,
    val upstreamUrl: String?,
) {
    /** The port of HTTPS, with the PEM files of its certificate and key. */
    class Tls(
        val port: Int,
        val certificate: Path,
        val key: Path,
    )

    companion object {
        fun from(env: Map<String, String>) =
            Settings(
                host = env["HOST"] ?: "127.0.0.1",
                port = env["PORT"]?.toInt() ?: 8080,
                tls =
                    env["TLS_PORT"]?.let {
                        Tls(it.toInt(), Path.of(env.getValue("TLS_CERT")), Path.of(env.getValue("TLS_KEY")))
                    },
                poolSize = env["POOL_SIZE"]?.toInt() ?: 16,
                blobPath = Path.of(env["BLOB_PATH"] ?: "blob"),
                staticDir = File(env["STATIC_DIR"] ?: "static"),
                databaseUrl = env["DATABASE_URL"]?.let(URI::create),
                upstreamUrl = env["UPSTREAM_URL"],
            )
    }
}
