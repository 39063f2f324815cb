package deadheat.micronaut;

import io.micronaut.context.env.PropertySource;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** Where PostgreSQL is, from a URL that libpq would read. JDBC's URLs hold no credentials. */
final class DatabaseUrl {
  private DatabaseUrl() {}

  /** The settings of the data source that are in the URL. Without one, there is no data source. */
  static PropertySource settings(String databaseUrl) {
    Map<String, Object> settings = new HashMap<>();
    if (databaseUrl == null) {
      settings.put("datasources.default.enabled", false);
    } else {
      URI url = URI.create(databaseUrl);
      String server = url.getRawAuthority().replaceFirst("^.*@", "");
      settings.put("datasources.default.url", "jdbc:postgresql://" + server + url.getRawPath());
      if (url.getUserInfo() != null) {
        String[] credentials = url.getUserInfo().split(":", 2);
        settings.put("datasources.default.username", credentials[0]);
        if (credentials.length == 2) {
          settings.put("datasources.default.password", credentials[1]);
        }
      }
    }
    return PropertySource.of("database-url", settings);
  }
}
