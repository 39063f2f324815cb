package deadheat.quarkus;

import io.quarkus.vertx.ConsumeEvent;
import io.smallrye.common.annotation.Blocking;
import jakarta.enterprise.context.ApplicationScoped;

/** Answers every message with the payload, on a thread of the worker pool. */
@ApplicationScoped
public class PayloadWorker {
  static final String ADDRESS = "payloads";

  private final Payload payload = Payload.create();

  @ConsumeEvent(ADDRESS)
  @Blocking
  Payload answer(String request) {
    return payload;
  }
}
