package deadheat.micronaut;

import io.micronaut.serde.annotation.Serdeable;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/** An item as a client sends it: the database chooses the id. */
@Serdeable.Deserializable
record ItemData(
    @NotNull @Size(min = 1, max = 100) @Serdeable.Deserializable(using = StrictText.class)
        String name,
    @NotNull @Min(0) @Max(1_000_000) Integer price) {}
