package deadheat.vertx;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Answers requests that failed, and logs what is not the client's fault. */
final class Failures {
  private static final Logger LOG = Logger.getLogger(Failures.class.getName());

  private Failures() {}

  static void answer(RoutingContext ctx) {
    HttpServerResponse response = ctx.response();
    if (response.closed()) {
      return; // The client has gone.
    }
    if (ctx.statusCode() >= 500) {
      LOG.log(Level.SEVERE, "a request failed: " + ctx.statusCode(), ctx.failure());
    }
    if (response.headWritten()) {
      ctx.request().connection().close();
    } else {
      response
          .setStatusCode(ctx.statusCode())
          .putHeader(HttpHeaders.CONTENT_TYPE, "text/plain")
          .end(response.getStatusMessage());
    }
  }
}
