package deadheat.quarkus;

import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/**
 * An item as a client sends it: the database chooses the id. The annotation makes Quarkus leave the
 * reading to Jackson, as for {@link Guest}.
 */
@JsonDeserialize
public record ItemData(
    @NotNull @Size(min = 1, max = 100) String name,
    @NotNull @Min(0) @Max(1_000_000) Integer price) {}
