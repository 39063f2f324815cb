package deadheat.ktor

import io.ktor.server.html.respondHtml
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import kotlinx.html.HTML
import kotlinx.html.body
import kotlinx.html.head
import kotlinx.html.table
import kotlinx.html.td
import kotlinx.html.th
import kotlinx.html.title
import kotlinx.html.tr
import java.sql.ResultSet

private const val FORTUNES = "select id, message from fortune"
private val ADDITIONAL = Fortune(0, "Additional fortune added at request time.")

private data class Fortune(
    val id: Int,
    val message: String,
)

/** A page of fortunes, asked from PostgreSQL. */
fun Route.fortunes(database: Database) {
    get("/fortunes") {
        val fortunes = database.query(FORTUNES, ::toFortune) + ADDITIONAL
        call.respondHtml { page(fortunes.sortedBy { it.message }) }
    }
}

private fun toFortune(row: ResultSet) = Fortune(row.getInt("id"), row.getString("message"))

private fun HTML.page(fortunes: List<Fortune>) {
    head { title("Fortunes") }
    body {
        table {
            tr {
                th { +"id" }
                th { +"message" }
            }
            for (fortune in fortunes) {
                tr {
                    td { +fortune.id.toString() }
                    td { +fortune.message }
                }
            }
        }
    }
}
