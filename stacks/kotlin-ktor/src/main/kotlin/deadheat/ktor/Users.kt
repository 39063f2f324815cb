package deadheat.ktor

import io.ktor.server.application.ApplicationStopped
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.application
import io.ktor.server.routing.get
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.serialization.Serializable
import java.net.URI
import java.sql.ResultSet
import javax.sql.DataSource

private const val FIRST_USERS = "select id, email from users order by id limit 10"

@Serializable
data class User(
    val id: Int,
    val email: String,
)

/** The first ten users, asked from PostgreSQL. */
fun Route.users(
    databaseUrl: URI,
    poolSize: Int,
) {
    val pool = connectionPool(databaseUrl, poolSize)
    application.monitor.subscribe(ApplicationStopped) { pool.close() }
    // JDBC blocks. No more threads than connections, so that none waits for a connection.
    val dispatcher = Dispatchers.IO.limitedParallelism(poolSize)
    get("/users") {
        call.respond(withContext(dispatcher) { firstUsers(pool) })
    }
}

private fun firstUsers(pool: DataSource): List<User> =
    pool.connection.use { connection ->
        connection.prepareStatement(FIRST_USERS).use { statement ->
            statement.executeQuery().use(::toUsers)
        }
    }

private fun toUsers(rows: ResultSet): List<User> =
    buildList {
        while (rows.next()) {
            add(User(rows.getInt("id"), rows.getString("email")))
        }
    }
