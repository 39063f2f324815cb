package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** Reads and digests a file on Vert.x' worker threads, away from the event loops. */
final class DigestHandler implements Handler<RoutingContext> {
  private static final int MAX_ROUNDS = 1_000_000;

  private final Vertx vertx;
  private final Path blobPath;

  DigestHandler(Vertx vertx, Path blobPath) {
    this.vertx = vertx;
    this.blobPath = blobPath;
  }

  @Override
  public void handle(RoutingContext ctx) {
    OptionalInt rounds =
        ctx.queryParam("rounds").stream()
            .findFirst()
            .map(DigestHandler::rounds)
            .orElse(OptionalInt.empty());
    if (rounds.isEmpty()) {
      ctx.fail(400);
      return;
    }
    vertx
        .executeBlocking(() -> Digest.chain(Files.readAllBytes(blobPath), rounds.getAsInt()), false)
        .onSuccess(
            digest -> ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, "text/plain").end(digest))
        .onFailure(ctx::fail);
  }

  private static OptionalInt rounds(String text) {
    try {
      int rounds = Integer.parseInt(text);
      return rounds >= 1 && rounds <= MAX_ROUNDS ? OptionalInt.of(rounds) : OptionalInt.empty();
    } catch (NumberFormatException e) {
      return OptionalInt.empty();
    }
  }
}
