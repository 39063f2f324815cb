package deadheat.vertx;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.Optional;

/** Items in PostgreSQL: read, listed, created, replaced and deleted. */
final class Items {
  private static final String FIND = "select id, name, price from items where id = $1";
  private static final String PAGE =
      "select id, name, price from items where id > $1 order by id limit $2";
  private static final String CREATE =
      "insert into items (name, price) values ($1, $2) returning id, name, price";
  private static final String REPLACE =
      "update items set name = $1, price = $2 where id = $3 returning id, name, price";
  private static final String DELETE = "delete from items where id = $1";

  private static final int PAGE_SIZE = 20;
  private static final int MAX_PAGE_SIZE = 100;
  private static final int MAX_NAME_LENGTH = 100;
  private static final int MAX_PRICE = 1_000_000;

  private final Optional<SqlClient> database;

  Items(Optional<SqlClient> database) {
    this.database = database;
  }

  void find(RoutingContext ctx) {
    query(FIND, Tuple.of(id(ctx))).map(Items::only).onSuccess(ctx::json).onFailure(ctx::fail);
  }

  void list(RoutingContext ctx) {
    int after = parameter(ctx, "after", 0, Integer.MAX_VALUE, 0);
    int limit = parameter(ctx, "limit", 1, MAX_PAGE_SIZE, PAGE_SIZE);
    query(PAGE, Tuple.of(after, limit))
        .map(Items::toJson)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  void create(RoutingContext ctx) {
    query(CREATE, data(ctx))
        .map(Items::only)
        .onSuccess(item -> created(ctx, item))
        .onFailure(ctx::fail);
  }

  void replace(RoutingContext ctx) {
    query(REPLACE, data(ctx).addInteger(id(ctx)))
        .map(Items::only)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  void delete(RoutingContext ctx) {
    query(DELETE, Tuple.of(id(ctx)))
        .onSuccess(result -> deleted(ctx, result.rowCount()))
        .onFailure(ctx::fail);
  }

  private Future<RowSet<Row>> query(String statement, Tuple values) {
    return database
        .map(client -> client.preparedQuery(statement).execute(values))
        .orElseThrow(() -> new HttpException(503));
  }

  private static void created(RoutingContext ctx, JsonObject item) {
    ctx.response()
        .setStatusCode(201)
        .putHeader(HttpHeaders.LOCATION, "/items/" + item.getInteger("id"));
    ctx.json(item);
  }

  private static void deleted(RoutingContext ctx, int rows) {
    if (rows == 0) {
      ctx.fail(404);
    } else {
      ctx.response().setStatusCode(204).end();
    }
  }

  private static JsonObject only(RowSet<Row> rows) {
    if (rows.size() == 0) {
      throw new HttpException(404);
    }
    return toJson(rows.iterator().next());
  }

  private static JsonArray toJson(RowSet<Row> rows) {
    JsonArray items = new JsonArray();
    for (Row row : rows) {
      items.add(toJson(row));
    }
    return items;
  }

  private static JsonObject toJson(Row row) {
    return JsonObject.of(
        "id", row.getInteger("id"),
        "name", row.getString("name"),
        "price", row.getInteger("price"));
  }

  /** The name and the price of an item in the body: the database chooses the id. */
  private static Tuple data(RoutingContext ctx) {
    JsonObject item = JsonBody.object(ctx);
    if (item.getValue("name") instanceof String name
        && !name.isEmpty()
        && name.length() <= MAX_NAME_LENGTH
        && item.getValue("price") instanceof Integer price
        && price >= 0
        && price <= MAX_PRICE) {
      return Tuple.of(name, price);
    }
    throw new HttpException(400);
  }

  private static int id(RoutingContext ctx) {
    return number(ctx.pathParam("id"), 1, Integer.MAX_VALUE);
  }

  private static int parameter(
      RoutingContext ctx, String name, int least, int most, int otherwise) {
    return ctx.queryParam(name).stream()
        .findFirst()
        .map(text -> number(text, least, most))
        .orElse(otherwise);
  }

  private static int number(String text, int least, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number that is out of range.
    }
    throw new HttpException(400);
  }
}
