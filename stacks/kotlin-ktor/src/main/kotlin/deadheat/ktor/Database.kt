package deadheat.ktor

import com.zaxxer.hikari.HikariConfig
import com.zaxxer.hikari.HikariDataSource
import java.net.URI

/** A pool that starts without a database, too, and connects when there is one. */
fun connectionPool(
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
