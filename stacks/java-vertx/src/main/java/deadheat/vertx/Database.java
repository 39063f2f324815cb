package deadheat.vertx;

import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.SqlClient;
import java.util.List;
import java.util.stream.IntStream;

/** Connections to PostgreSQL. */
final class Database {
  private static final int PIPELINING_LIMIT = 16; // statements on the way, for each connection
  private static final String STATEMENT_TIMEOUT = "10s";

  private Database() {}

  /**
   * A client for each event loop, which opens its connections there. Together they have no more
   * than {@code connections}, so with more event loops than that, some share a client.
   */
  static List<SqlClient> clients(Vertx vertx, String url, int connections, int eventLoops) {
    int clients = Math.min(connections, eventLoops);
    return IntStream.range(0, clients)
        .mapToObj(index -> client(vertx, url, connections / clients))
        .toList();
  }

  /** A client that connects on first use, so that the server starts without a database. */
  private static SqlClient client(Vertx vertx, String url, int connections) {
    return PgBuilder.client()
        .connectingTo(
            PgConnectOptions.fromUri(url)
                .addProperty("statement_timeout", STATEMENT_TIMEOUT)
                .setCachePreparedStatements(true)
                .setPipeliningLimit(PIPELINING_LIMIT))
        .with(new PoolOptions().setMaxSize(connections))
        .using(vertx)
        .build();
  }
}
