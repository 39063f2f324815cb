package deadheat.micronaut;

/** A row, for the template, whose class is in another package. */
public record Fortune(int id, String message) {}
