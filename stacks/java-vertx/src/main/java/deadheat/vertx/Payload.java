package deadheat.vertx;

import io.vertx.core.buffer.Buffer;
import java.util.Arrays;

/** Bytes that nobody changes any more. */
record Payload(Buffer bytes) {
  private static final int SIZE = 1 << 20;

  static Payload create() {
    byte[] bytes = new byte[SIZE];
    Arrays.fill(bytes, (byte) 'd');
    return new Payload(Buffer.buffer(bytes));
  }
}
