package deadheat.ktor

import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import kotlinx.serialization.Serializable
import java.sql.ResultSet

private const val FIRST_USERS = "select id, email from users order by id limit 10"

@Serializable
data class User(
    val id: Int,
    val email: String,
)

/** The first ten users, asked from PostgreSQL. */
fun Route.users(database: Database) {
    get("/users") {
        call.respond(database.query(FIRST_USERS, ::toUser))
    }
}

private fun toUser(row: ResultSet) = User(row.getInt("id"), row.getString("email"))
