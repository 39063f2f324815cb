package deadheat.micronaut;

import io.micronaut.context.env.PropertySource;
import java.util.HashMap;
import java.util.Map;

/** HTTPS and HTTP/2 on ports of their own, next to the one for HTTP/1.1. */
final class Listeners {
  private static final String PREFIX = "micronaut.server.netty.listeners.";
  private static final String CERTIFICATE = "server";

  private Listeners() {}

  /** The settings of the listeners. Without TLS_PORT and H2C_PORT, Micronaut's own listener is enough. */
  static PropertySource settings(Map<String, String> env) {
    Map<String, Object> settings = new HashMap<>();
    String tlsPort = env.get("TLS_PORT");
    String h2cPort = env.get("H2C_PORT");
    if (tlsPort != null || h2cPort != null) {
      settings.put("micronaut.server.http-version", "2.0");
      listen(settings, "http", env.getOrDefault("PORT", "8080"));
    }
    if (tlsPort != null) {
      listen(settings, "https", tlsPort);
      settings.put("micronaut.server.ssl.enabled", true);
      settings.put(PREFIX + "https.ssl", true);
      settings.put(PREFIX + "https.key-name", CERTIFICATE);
      String certificate = "micronaut.certificate.file." + CERTIFICATE;
      settings.put(certificate + ".format", "PEM");
      settings.put(certificate + ".path", env.get("TLS_KEY"));
      settings.put(certificate + ".certificate-path", env.get("TLS_CERT"));
    }
    if (h2cPort != null) {
      listen(settings, "h2c", h2cPort);
    }
    return PropertySource.of("listeners", settings);
  }

  private static void listen(Map<String, Object> settings, String name, String port) {
    settings.put(PREFIX + name + ".host", "${micronaut.server.host}");
    settings.put(PREFIX + name + ".port", port);
  }
}
