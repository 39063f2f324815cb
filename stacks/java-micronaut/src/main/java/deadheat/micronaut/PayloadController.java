package deadheat.micronaut;

import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** One mebibyte, written directly or handed over by a worker. */
@Controller
@Produces(MediaType.APPLICATION_OCTET_STREAM)
final class PayloadController {
  private static final byte[] PAYLOAD = new byte[1 << 20];

  static {
    Arrays.fill(PAYLOAD, (byte) 'd');
  }

  private final Worker<byte[]> worker = new Worker<>("payload-worker", PAYLOAD);

  @Get("/payload")
  byte[] direct() {
    return PAYLOAD;
  }

  @Get("/ping-pong")
  CompletableFuture<byte[]> handedOver() {
    return worker.ask();
  }
}
