package deadheat.ktor

import com.zaxxer.hikari.HikariConfig
import com.zaxxer.hikari.HikariDataSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import java.net.URI
import java.sql.PreparedStatement
import java.sql.ResultSet

/** A pool that starts without a database, too, and connects when there is one. */
class Database(
    url: URI,
    poolSize: Int,
) : AutoCloseable {
    private val pool = connectionPool(url, poolSize)

    // JDBC blocks. No more threads than connections, so that none waits for a connection.
    private val dispatcher = Dispatchers.IO.limitedParallelism(poolSize)

    /** What the statement selects or returns, each row made a value. */
    suspend fun <T> query(
        statement: String,
        toValue: (ResultSet) -> T,
        vararg parameters: Any,
    ): List<T> =
        prepared(statement, parameters) { prepared ->
            prepared.executeQuery().use { rows ->
                buildList {
                    while (rows.next()) {
                        add(toValue(rows))
                    }
                }
            }
        }

    /** How many rows the statement changes. */
    suspend fun update(
        statement: String,
        vararg parameters: Any,
    ): Int = prepared(statement, parameters) { it.executeUpdate() }

    private suspend fun <T> prepared(
        statement: String,
        parameters: Array<out Any>,
        execute: (PreparedStatement) -> T,
    ): T =
        withContext(dispatcher) {
            pool.connection.use { connection ->
                connection.prepareStatement(statement).use { prepared ->
                    parameters.forEachIndexed { index, value -> prepared.setObject(index + 1, value) }
                    execute(prepared)
                }
            }
        }

    override fun close() = pool.close()
}

private fun connectionPool(
    url: URI,
    size: Int,
): HikariDataSource {
    val config = HikariConfig()
    config.jdbcUrl = "jdbc:postgresql://${url.rawAuthority.substringAfter('@')}${url.rawPath}"
    url.userInfo?.let {
        config.username = it.substringBefore(':')
        config.password = it.substringAfter(':', "")
    }
    config.maximumPoolSize = size
    config.initializationFailTimeout = -1
    // A statement is prepared on the server when it is first used, not the fifth time.
    config.addDataSourceProperty("prepareThreshold", "1")
    config.addDataSourceProperty("options", "-c statement_timeout=10s")
    return HikariDataSource(config)
}
