package deadheat.vertx;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The settings, all from the environment. */
record Settings(
    String host,
    int port,
    int cpus,
    int poolSize,
    Optional<String> databaseUrl,
    Optional<String> upstreamUrl,
    Path blobPath) {

  static Settings from(Map<String, String> env) {
    return new Settings(
        env.getOrDefault("HOST", "127.0.0.1"),
        positive(env, "PORT", 8080),
        positive(env, "CPUS", Runtime.getRuntime().availableProcessors()),
        positive(env, "POOL_SIZE", 16),
        Optional.ofNullable(env.get("DATABASE_URL")),
        Optional.ofNullable(env.get("UPSTREAM_URL")),
        Path.of(env.getOrDefault("BLOB_PATH", "blob")));
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
