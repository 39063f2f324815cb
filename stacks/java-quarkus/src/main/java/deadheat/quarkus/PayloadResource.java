package deadheat.quarkus;

import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.core.eventbus.EventBus;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** One mebibyte, written directly or handed over by a worker. */
@Path("/")
@Produces(MediaType.APPLICATION_OCTET_STREAM)
public class PayloadResource {
  private final Payload payload = Payload.create();
  private final EventBus bus;

  PayloadResource(EventBus bus) {
    this.bus = bus;
  }

  @GET
  @Path("payload")
  @NonBlocking
  public byte[] direct() {
    return payload.bytes();
  }

  @GET
  @Path("ping-pong")
  public Uni<byte[]> handedOver() {
    return bus.<Payload>request(PayloadWorker.ADDRESS, "ping").map(pong -> pong.body().bytes());
  }
}
