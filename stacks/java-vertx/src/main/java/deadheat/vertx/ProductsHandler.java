package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.ext.web.RoutingContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

/**
 * Products, compressed for clients that accept it. Vert.x' own compression is an option of a whole
 * server, which every other route would pay for.
 */
final class ProductsHandler implements Handler<RoutingContext> {
  private static final int COUNT = 100;
  private static final int MAX_FROM = 1_000_000;
  private static final String GZIP = "gzip";

  @Override
  public void handle(RoutingContext ctx) {
    OptionalInt from =
        ctx.queryParam("from").stream()
            .findFirst()
            .map(ProductsHandler::from)
            .orElse(OptionalInt.empty());
    if (from.isEmpty()) {
      ctx.fail(400);
      return;
    }
    JsonArray products = new JsonArray();
    IntStream.range(from.getAsInt(), from.getAsInt() + COUNT)
        .mapToObj(Product::of)
        .forEach(products::add);
    HttpServerResponse response =
        ctx.response()
            .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
            .putHeader(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    if (accepts(ctx)) {
      response.putHeader(HttpHeaders.CONTENT_ENCODING, GZIP).end(compressed(products.toBuffer()));
    } else {
      response.end(products.toBuffer());
    }
  }

  private static boolean accepts(RoutingContext ctx) {
    return ctx.parsedHeaders().acceptEncoding().stream()
        .anyMatch(coding -> coding.value().equalsIgnoreCase(GZIP) && coding.weight() > 0);
  }

  private static Buffer compressed(Buffer json) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(json.length() / 4);
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(json.getBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  private static OptionalInt from(String text) {
    try {
      int from = Integer.parseInt(text);
      return from >= 1 && from <= MAX_FROM ? OptionalInt.of(from) : OptionalInt.empty();
    } catch (NumberFormatException e) {
      return OptionalInt.empty();
    }
  }
}
