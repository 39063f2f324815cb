package deadheat.micronaut;

import io.micronaut.serde.annotation.Serdeable;

/** A row. */
@Serdeable
record Item(int id, String name, int price) {}
