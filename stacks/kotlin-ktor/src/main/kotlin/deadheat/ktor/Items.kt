package deadheat.ktor

import io.ktor.http.HttpHeaders
import io.ktor.http.HttpStatusCode
import io.ktor.http.Parameters
import io.ktor.server.application.ApplicationCall
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.NotFoundException
import io.ktor.server.request.receiveNullable
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.RoutingCall
import io.ktor.server.routing.delete
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.server.routing.put
import io.ktor.server.routing.route
import kotlinx.serialization.Serializable
import java.sql.ResultSet

private const val FIND = "select id, name, price from items where id = ?"
private const val PAGE = "select id, name, price from items where id > ? order by id limit ?"
private const val CREATE = "insert into items (name, price) values (?, ?) returning id, name, price"
private const val REPLACE = "update items set name = ?, price = ? where id = ? returning id, name, price"
private const val DELETE = "delete from items where id = ?"

@Serializable
data class Item(
    val id: Int,
    val name: String,
    val price: Int,
)

/** An item as a client sends it: the database chooses the id. */
@Serializable
data class ItemData(
    val name: String,
    val price: Int,
) {
    // Ktor answers 400 to a body that cannot be made a value.
    init {
        require(name.length in 1..100) { "a name has 1 to 100 characters" }
        require(price in 0..1_000_000) { "a price is a number from 0 to 1000000" }
    }
}

/** Items in PostgreSQL: read, listed, created, replaced and deleted. */
fun Route.items(database: Database) {
    route("/items") {
        get {
            val after = call.queryParameters.number("after", 0..Int.MAX_VALUE) ?: 0
            val limit = call.queryParameters.number("limit", 1..100) ?: 20
            call.respond(database.query(PAGE, ::toItem, after, limit))
        }
        post {
            val data = call.receiveItem()
            val item = database.query(CREATE, ::toItem, data.name, data.price).single()
            call.response.header(HttpHeaders.Location, "/items/${item.id}")
            call.respond(HttpStatusCode.Created, item)
        }
        route("/{id}") {
            get {
                call.respondItem(database.query(FIND, ::toItem, call.itemId()))
            }
            put {
                val id = call.itemId()
                val data = call.receiveItem()
                call.respondItem(database.query(REPLACE, ::toItem, data.name, data.price, id))
            }
            delete {
                val deleted = database.update(DELETE, call.itemId())
                call.respond(if (deleted == 0) HttpStatusCode.NotFound else HttpStatusCode.NoContent)
            }
        }
    }
}

private suspend fun ApplicationCall.receiveItem(): ItemData =
    receiveNullable<ItemData?>() ?: throw BadRequestException("an item is needed")

private suspend fun ApplicationCall.respondItem(items: List<Item>) =
    respond(items.singleOrNull() ?: throw NotFoundException())

private fun RoutingCall.itemId(): Int = pathParameters.number("id", 1..Int.MAX_VALUE) ?: throw NotFoundException()

/** The number that is given, if any. */
private fun Parameters.number(
    name: String,
    range: IntRange,
): Int? =
    this[name]?.let { text ->
        text.toIntOrNull()?.takeIf { it in range } ?: throw BadRequestException("$name must be in $range")
    }

private fun toItem(row: ResultSet) = Item(row.getInt("id"), row.getString("name"), row.getInt("price"))
