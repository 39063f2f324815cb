package deadheat.vertx;

import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;

/** The pool of connections to PostgreSQL. */
final class Database {
  private Database() {}

  /** A pool that connects on first use, so that the server starts without a database. */
  static Pool pool(Vertx vertx, String url, int size) {
    return PgBuilder.pool()
        .connectingTo(PgConnectOptions.fromUri(url).setCachePreparedStatements(true))
        .with(new PoolOptions().setMaxSize(size))
        .using(vertx)
        .build();
  }
}
