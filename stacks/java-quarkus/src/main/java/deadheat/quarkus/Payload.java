package deadheat.quarkus;

import java.util.Arrays;

/** Bytes that nobody changes any more, which is why they need not be copied. */
public record Payload(byte[] bytes) {
  private static final int SIZE = 1 << 20;

  static Payload create() {
    byte[] bytes = new byte[SIZE];
    Arrays.fill(bytes, (byte) 'd');
    return new Payload(bytes);
  }
}
