package deadheat.vertx;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The settings, all from the environment. */
record Settings(
    String host,
    int port,
    Optional<Tls> tls,
    Optional<Integer> h2cPort,
    int cpus,
    int poolSize,
    Optional<String> databaseUrl,
    Optional<String> upstreamUrl,
    Path blobPath,
    String staticDir) {

  /** The port of HTTPS, with the PEM files of its certificate and key. */
  record Tls(int port, String certPath, String keyPath) {}

  static Settings from(Map<String, String> env) {
    return new Settings(
        env.getOrDefault("HOST", "127.0.0.1"),
        positive(env, "PORT", 8080),
        env.containsKey("TLS_PORT")
            ? Optional.of(
                new Tls(positive(env, "TLS_PORT", 8443), env.get("TLS_CERT"), env.get("TLS_KEY")))
            : Optional.empty(),
        env.containsKey("H2C_PORT")
            ? Optional.of(positive(env, "H2C_PORT", 8082))
            : Optional.empty(),
        positive(env, "CPUS", Runtime.getRuntime().availableProcessors()),
        positive(env, "POOL_SIZE", 16),
        Optional.ofNullable(env.get("DATABASE_URL")),
        Optional.ofNullable(env.get("UPSTREAM_URL")),
        Path.of(env.getOrDefault("BLOB_PATH", "blob")),
        env.getOrDefault("STATIC_DIR", "static"));
  }

  private static int positive(Map<String, String> env, String name, int otherwise) {
    String text = env.get(name);
    if (text == null) {
      return otherwise;
    }
    try {
      int value = Integer.parseInt(text);
      if (value > 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number that is not positive.
    }
    throw new IllegalArgumentException(name + " is not a positive number: " + text);
  }
}
