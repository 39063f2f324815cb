package deadheat.vertx;

/** A row. */
record Fortune(int id, String message) {}
