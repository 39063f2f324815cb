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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** The tests of TechEmpower's Framework Benchmarks. */
final class TechEmpower {
  private static final String WORLD = "select id, randomnumber from world where id = $1";
  private static final String ALL_WORLDS = "select id, randomnumber from world";
  private static final String UPDATE =
      "update world set randomnumber = new.number "
          + "from unnest($1::integer[], $2::integer[]) as new(id, number) where world.id = new.id";

  private static final int WORLDS = 10_000;
  private static final int MAX_COUNT = 500;

  private final Optional<SqlClient> database;
  private List<World> cached = List.of();

  TechEmpower(Optional<SqlClient> database) {
    this.database = database;
  }

  /** These tests ask for a Server header. */
  static void nameServer(RoutingContext ctx) {
    ctx.response().putHeader(HttpHeaders.SERVER, "Vert.x");
    ctx.next();
  }

  static void json(RoutingContext ctx) {
    ctx.json(JsonObject.of("message", "Hello, World!"));
  }

  void db(RoutingContext ctx) {
    read(randomId()).map(World::toJson).onSuccess(ctx::json).onFailure(ctx::fail);
  }

  void queries(RoutingContext ctx) {
    read(randomIds(count(ctx, "queries")))
        .map(TechEmpower::toJson)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  void updates(RoutingContext ctx) {
    read(randomIds(count(ctx, "queries")))
        .compose(this::update)
        .map(TechEmpower::toJson)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  void cachedQueries(RoutingContext ctx) {
    int count = count(ctx, "count");
    all()
        .map(worlds -> choose(worlds, count))
        .map(TechEmpower::toJson)
        .onSuccess(ctx::json)
        .onFailure(ctx::fail);
  }

  private Future<World> read(int id) {
    return client()
        .preparedQuery(WORLD)
        .execute(Tuple.of(id))
        .map(rows -> World.of(rows.iterator().next()));
  }

  /** Each by a statement of its own. */
  private Future<List<World>> read(int[] ids) {
    List<Future<World>> worlds = Arrays.stream(ids).mapToObj(this::read).toList();
    return Future.all(worlds).map(all -> all.<World>list());
  }

  private Future<List<World>> update(List<World> worlds) {
    // PostgreSQL locks the rows in the order of their ids, so that two requests never wait for each
    // other.
    List<World> updated =
        worlds.stream().map(World::id).sorted().map(id -> new World(id, randomId())).toList();
    Tuple values =
        Tuple.tuple()
            .addArrayOfInteger(updated.stream().map(World::id).toArray(Integer[]::new))
            .addArrayOfInteger(updated.stream().map(World::randomNumber).toArray(Integer[]::new));
    return client().preparedQuery(UPDATE).execute(values).map(updated);
  }

  /** All worlds, from memory after the first time. */
  private Future<List<World>> all() {
    if (!cached.isEmpty()) {
      return Future.succeededFuture(cached);
    }
    return client()
        .preparedQuery(ALL_WORLDS)
        .execute()
        .map(
            rows -> {
              cached = toWorlds(rows);
              return cached;
            });
  }

  private SqlClient client() {
    return database.orElseThrow(() -> new HttpException(503));
  }

  private static List<World> toWorlds(RowSet<Row> rows) {
    return StreamSupport.stream(rows.spliterator(), false).map(World::of).toList();
  }

  private static List<World> choose(List<World> worlds, int count) {
    List<World> chosen = new ArrayList<>(count);
    for (int index = 0; index < count; index++) {
      chosen.add(worlds.get(ThreadLocalRandom.current().nextInt(worlds.size())));
    }
    return chosen;
  }

  private static JsonArray toJson(List<World> worlds) {
    JsonArray array = new JsonArray();
    worlds.stream().map(World::toJson).forEach(array::add);
    return array;
  }

  private static int randomId() {
    return ThreadLocalRandom.current().nextInt(WORLDS) + 1;
  }

  /** Ids that differ from each other. */
  private static int[] randomIds(int count) {
    return IntStream.generate(TechEmpower::randomId).distinct().limit(count).toArray();
  }

  /** The number that a request asks for: 1 to 500, and 1 for anything that is no number. */
  private static int count(RoutingContext ctx, String name) {
    try {
      int count = Integer.parseInt(ctx.queryParam(name).stream().findFirst().orElse(""));
      return Math.min(Math.max(count, 1), MAX_COUNT);
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
