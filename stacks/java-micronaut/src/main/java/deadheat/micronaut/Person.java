package deadheat.micronaut;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.micronaut.serde.annotation.Serdeable;

/** Somebody to greet. */
@Serdeable
record Person(
    @JsonProperty(required = true) @Serdeable.Deserializable(using = StrictText.class) String name,
    @JsonProperty(required = true) @Serdeable.Deserializable(using = StrictText.class)
        String username) {}
