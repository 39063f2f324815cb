package deadheat.spring;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.stereotype.Component;

/** Where PostgreSQL is, from a URL that libpq would read. JDBC's URLs hold no credentials. */
@Component
class DatabaseUrl implements JdbcConnectionDetails {
  private final URI url;

  DatabaseUrl(StackProperties properties) {
    this.url = properties.databaseUrl();
  }

  @Override
  public String getJdbcUrl() {
    String server = url.getRawAuthority().replaceFirst("^.*@", "");
    return "jdbc:postgresql://" + server + url.getRawPath();
  }

  @Override
  public @Nullable String getUsername() {
    return credential(0);
  }

  @Override
  public @Nullable String getPassword() {
    return credential(1);
  }

  private @Nullable String credential(int index) {
    if (url.getUserInfo() == null) {
      return null;
    }
    String[] credentials = url.getUserInfo().split(":", 2);
    return index < credentials.length ? credentials[index] : null;
  }
}
