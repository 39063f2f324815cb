package deadheat.micronaut;

import io.micronaut.core.type.Argument;
import io.micronaut.json.tree.JsonNode;
import io.micronaut.serde.Decoder;
import io.micronaut.serde.Deserializer;
import jakarta.inject.Singleton;
import java.io.IOException;

/** Only a text is a text, whereas Micronaut Serialization would take {@code 7} for {@code "7"}. */
@Singleton
final class StrictText implements Deserializer<String> {
  @Override
  public String deserialize(Decoder decoder, DecoderContext context, Argument<? super String> type)
      throws IOException {
    JsonNode value = decoder.decodeNode();
    if (!value.isString()) {
      throw decoder.createDeserializationException("a text is needed", null);
    }
    return value.getStringValue();
  }

  @Override
  public boolean allowNull() {
    return true; // to refuse it, too
  }
}
