package deadheat.spring;

import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The pool of connections to PostgreSQL. */
@Configuration(proxyBeanMethods = false)
class DatabaseConfiguration {
  /** A pool that starts on first use, so that the server starts without a database. */
  @Bean
  HikariDataSource dataSource(StackProperties properties) {
    URI url = properties.databaseUrl();
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
    pool.setMaximumPoolSize(properties.poolSize());
    return pool;
  }
}
