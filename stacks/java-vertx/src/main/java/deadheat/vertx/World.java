package deadheat.vertx;

import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Row;

/** A row. */
record World(int id, int randomNumber) {
  static World of(Row row) {
    return new World(row.getInteger("id"), row.getInteger("randomnumber"));
  }

  JsonObject toJson() {
    return JsonObject.of("id", id, "randomNumber", randomNumber);
  }
}
