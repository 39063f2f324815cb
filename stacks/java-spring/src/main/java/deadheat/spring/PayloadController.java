package deadheat.spring;

import java.util.Arrays;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** One mebibyte, written directly or handed over by a worker. */
@RestController
class PayloadController {
  private static final byte[] PAYLOAD = new byte[1 << 20];

  static {
    Arrays.fill(PAYLOAD, (byte) 'd');
  }

  private final Worker<byte[]> worker = new Worker<>("payload-worker", PAYLOAD);

  @GetMapping(path = "/payload", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
  byte[] direct() {
    return PAYLOAD;
  }

  @GetMapping(path = "/ping-pong", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
  byte[] handedOver() throws InterruptedException {
    return worker.ask();
  }
}
