package deadheat.ktor

import io.ktor.http.HttpHeaders
import io.ktor.http.content.EntityTagVersion
import io.ktor.http.content.versions
import io.ktor.server.application.createRouteScopedPlugin
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
        install(TagsBeforeDates)
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

/** An If-None-Match decides alone (RFC 9110, section 13.2.2). Ktor would compare the dates, too. */
private val TagsBeforeDates =
    createRouteScopedPlugin("TagsBeforeDates") {
        onCallRespond { call, content ->
            if (content is LocalFileContent && HttpHeaders.IfNoneMatch in call.request.headers) {
                content.versions = emptyList()
            }
        }
    }

private fun File.tag() = lastModified().toString(HEXADECIMAL) + "-" + length().toString(HEXADECIMAL)

private const val HEXADECIMAL = 16
