package deadheat.vertx;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;

/**
 * Hands a payload over by reference. The bus copies a plain buffer for each message, since buffers
 * may be changed; a payload is not.
 */
final class PayloadCodec implements MessageCodec<Payload, Payload> {
  @Override
  public Payload transform(Payload payload) {
    return payload;
  }

  @Override
  public void encodeToWire(Buffer buffer, Payload payload) {
    throw new UnsupportedOperationException("payloads stay in this process");
  }

  @Override
  public Payload decodeFromWire(int position, Buffer buffer) {
    throw new UnsupportedOperationException("payloads stay in this process");
  }

  @Override
  public String name() {
    return "payload";
  }

  @Override
  public byte systemCodecID() {
    return -1; // not one of Vert.x' own
  }
}
