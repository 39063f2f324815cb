package deadheat.quarkus;

import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import java.util.Objects;

/**
 * Somebody to greet. The annotation makes Quarkus leave the reading to Jackson: the reader that it
 * would generate takes {@code 7} for {@code "7"}, whatever {@link StrictJson} says.
 */
@JsonDeserialize
public record Guest(String name, String username) {
  public Guest {
    Objects.requireNonNull(name, "a guest has a name");
    Objects.requireNonNull(username, "a guest has a username");
  }
}
