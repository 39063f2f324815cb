package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.security.MessageDigest;
import java.util.Base64;

/** A body that is hashed as it comes. */
final class UploadHandler implements Handler<RoutingContext> {
  private static final long MAX_BYTES = 16 << 20;

  @Override
  public void handle(RoutingContext ctx) {
    new Upload(ctx).begin();
  }

  private static final class Upload {
    private final RoutingContext ctx;
    private final MessageDigest sha256 = Digest.sha256();
    private long length;

    Upload(RoutingContext ctx) {
      this.ctx = ctx;
    }

    void begin() {
      ctx.request().handler(this::add).exceptionHandler(ctx::fail).endHandler(end -> answer());
    }

    private void add(Buffer piece) {
      length += piece.length();
      // What is too long is read to its end, because the next request follows it.
      if (length <= MAX_BYTES) {
        sha256.update(piece.getBytes());
      }
    }

    private void answer() {
      if (length > MAX_BYTES) {
        ctx.fail(413);
        return;
      }
      String digest = Base64.getEncoder().encodeToString(sha256.digest());
      ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, "text/plain").end(digest);
    }
  }
}
