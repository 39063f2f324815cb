package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import java.util.Optional;

/** The first ten users, asked from PostgreSQL. */
final class UsersHandler implements Handler<RoutingContext> {
  private static final String FIRST_USERS = "select id, email from users order by id limit 10";

  private final Optional<SqlClient> database;

  UsersHandler(Optional<SqlClient> database) {
    this.database = database;
  }

  @Override
  public void handle(RoutingContext ctx) {
    if (database.isEmpty()) {
      ctx.fail(503);
      return;
    }
    database
        .get()
        .preparedQuery(FIRST_USERS)
        .execute()
        .map(UsersHandler::toJson)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  private static JsonArray toJson(RowSet<Row> rows) {
    JsonArray users = new JsonArray();
    for (Row row : rows) {
      users.add(JsonObject.of("id", row.getInteger("id"), "email", row.getString("email")));
    }
    return users;
  }
}
