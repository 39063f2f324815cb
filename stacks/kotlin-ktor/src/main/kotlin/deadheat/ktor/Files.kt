package deadheat.ktor

import io.ktor.http.content.EntityTagVersion
import io.ktor.server.application.install
import io.ktor.server.http.content.LocalFileContent
import io.ktor.server.http.content.staticFiles
import io.ktor.server.plugins.conditionalheaders.ConditionalHeaders
import io.ktor.server.routing.Route
import io.ktor.server.routing.route
import java.io.File

/** The files of a folder, with ETags of their time and length. */
fun Route.files(root: File) {
    route("/static") {
        install(ConditionalHeaders) {
            version { _, content ->
                when (content) {
                    is LocalFileContent -> listOf(EntityTagVersion(content.file.tag()))
                    else -> emptyList()
                }
            }
        }
        staticFiles("", root)
    }
}

private fun File.tag() = lastModified().toString(HEXADECIMAL) + "-" + length().toString(HEXADECIMAL)

private const val HEXADECIMAL = 16
