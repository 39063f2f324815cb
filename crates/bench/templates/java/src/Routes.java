import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Paths, and what answers each method of them. */
final class Routes implements HttpHandler {
  private static final String TEXT = "text/plain; charset=utf-8";

  private final Map<String, Map<String, HttpHandler>> routes =
      Map.of("/plaintext", Map.of("GET", exchange -> answer(exchange, 200, "Hello, World!")));

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    var methods = routes.get(exchange.getRequestURI().getPath());
    if (methods == null) {
      answer(exchange, 404, "not found");
    } else if (!methods.containsKey(exchange.getRequestMethod())) {
      exchange.getResponseHeaders().set("Allow", String.join(", ", methods.keySet()));
      answer(exchange, 405, "method not allowed");
    } else {
      methods.get(exchange.getRequestMethod()).handle(exchange);
    }
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    try (exchange) {
      var body = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", TEXT);
      // -1: an answer to HEAD has no body.
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(status, isHead ? -1 : body.length);
      if (!isHead) {
        exchange.getResponseBody().write(body);
      }
    }
  }
}
