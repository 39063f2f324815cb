package deadheat.micronaut;

import com.zaxxer.hikari.HikariDataSource;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import jakarta.inject.Singleton;
import java.net.URI;

/** The pool of connections to PostgreSQL. */
@Factory
final class Database {
  /** A pool that starts on first use, so that the server starts without a database. */
  @Singleton
  @Bean(preDestroy = "close")
  HikariDataSource pool(StackSettings settings) {
    URI url = settings.databaseUrl();
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(
        "jdbc:postgresql://" + url.getRawAuthority().replaceFirst("^.*@", "") + url.getRawPath());
    if (url.getUserInfo() != null) {
      String[] credentials = url.getUserInfo().split(":", 2);
      pool.setUsername(credentials[0]);
      if (credentials.length == 2) {
        pool.setPassword(credentials[1]);
      }
    }
    pool.setMaximumPoolSize(settings.poolSize());
    // A statement is prepared on the server when it is first used, not the fifth time.
    pool.addDataSourceProperty("prepareThreshold", "1");
    return pool;
  }
}
