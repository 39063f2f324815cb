package deadheat.vertx;

import io.vertx.core.eventbus.Message;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;

/** One mebibyte, written directly or handed over by a worker. */
final class Payloads {
  private static final Payload PAYLOAD = Payload.create();

  private Payloads() {}

  static void direct(RoutingContext ctx) {
    write(ctx, PAYLOAD);
  }

  static void handedOver(RoutingContext ctx) {
    ctx.vertx()
        .eventBus()
        .<Payload>request(PayloadWorker.ADDRESS, null)
        .map(Message::body)
        .onSuccess(payload -> write(ctx, payload))
        .onFailure(ctx::fail);
  }

  private static void write(RoutingContext ctx, Payload payload) {
    ctx.response()
        .putHeader(HttpHeaders.CONTENT_TYPE, "application/octet-stream")
        .end(payload.bytes());
  }
}
