package deadheat.vertx;

import com.fizzed.rocker.runtime.ArrayOfByteArraysOutput;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** A page of fortunes, asked from PostgreSQL. */
final class FortunesHandler implements Handler<RoutingContext> {
  private static final String FORTUNES = "select id, message from fortune";
  private static final Fortune ADDITIONAL =
      new Fortune(0, "Additional fortune added at request time.");
  private static final String HTML = "text/html; charset=utf-8";

  private final Optional<SqlClient> database;

  FortunesHandler(Optional<SqlClient> database) {
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
        .preparedQuery(FORTUNES)
        .execute()
        .map(FortunesHandler::toPage)
        .onSuccess(page -> ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, HTML).end(page))
        .onFailure(ctx::fail);
  }

  private static Buffer toPage(RowSet<Row> rows) {
    List<Fortune> fortunes = new ArrayList<>(rows.size() + 1);
    for (Row row : rows) {
      fortunes.add(new Fortune(row.getInteger("id"), row.getString("message")));
    }
    fortunes.add(ADDITIONAL);
    fortunes.sort(Comparator.comparing(Fortune::message));
    ArrayOfByteArraysOutput page =
        FortunesPage.template(fortunes).render(ArrayOfByteArraysOutput.FACTORY);
    return Buffer.buffer(page.toByteArray());
  }
}
