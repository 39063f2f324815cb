package deadheat.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** Answers every message with the payload, on a thread of the worker pool. */
final class PayloadWorker extends VerticleBase {
  static final String ADDRESS = "payloads";

  private final Payload payload = Payload.create();

  @Override
  public Future<?> start() {
    return vertx.eventBus().localConsumer(ADDRESS, message -> message.reply(payload)).completion();
  }
}
