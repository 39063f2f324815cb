package deadheat.ktor

import io.ktor.http.HttpHeaders
import io.ktor.server.application.install
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.compression.Compression
import io.ktor.server.plugins.compression.gzip
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import io.ktor.server.routing.route
import kotlinx.serialization.Serializable

private const val COUNT = 100
private const val MAX_FROM = 1_000_000
private val CATEGORIES = listOf("books", "garden", "kitchen", "music", "tools")

@Serializable
data class Product(
    val id: Int,
    val name: String,
    val category: String,
    val price: Int,
    val stock: Int,
)

/** Products that are computed, compressed for clients that accept it. */
fun Route.products() {
    route("/products") {
        install(Compression) {
            gzip()
        }
        get {
            val from =
                call.queryParameters["from"]?.toIntOrNull()?.takeIf { it in 1..MAX_FROM }
                    ?: throw BadRequestException("from must be a number from 1 to $MAX_FROM")
            // The plugin says so of compressed answers alone.
            call.response.header(HttpHeaders.Vary, HttpHeaders.AcceptEncoding)
            call.respond(List(COUNT) { product(from + it) })
        }
    }
}

private fun product(id: Int) =
    Product(
        id = id,
        name = "Product $id",
        category = CATEGORIES[id % CATEGORIES.size],
        price = id * 37 % 10_007,
        stock = id * 31 % 101,
    )
