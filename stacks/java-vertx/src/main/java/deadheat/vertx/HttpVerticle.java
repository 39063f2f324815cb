package deadheat.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.sqlclient.SqlClient;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A share of the connections, on one event loop. */
final class HttpVerticle extends VerticleBase {
  private static final int BACKLOG = 4096;
  private static final int IDLE_SECONDS = 120;
  private static final long MAX_BODY_BYTES = 1 << 20;
  private static final long GRACE_MS = 600;

  private final Settings settings;
  private final Optional<SqlClient> database;
  private HttpServer server;

  HttpVerticle(Settings settings, Optional<SqlClient> database) {
    this.settings = settings;
    this.database = database;
  }

  @Override
  public Future<?> start() {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(settings.host())
            .setPort(settings.port())
            .setAcceptBacklog(BACKLOG)
            .setIdleTimeout(IDLE_SECONDS);
    server = vertx.createHttpServer(options).requestHandler(router());
    return server.listen();
  }

  /** Lets open requests finish for a short while, then closes all connections. */
  @Override
  public Future<?> stop() {
    return server.shutdown(GRACE_MS, TimeUnit.MILLISECONDS);
  }

  private Router router() {
    Router router = Router.router(vertx);
    router.route().handler(new DateHeader(vertx));
    router.get("/plaintext").handler(Greetings::plaintext);
    router.get("/json").handler(Greetings::listPeople);
    router
        .post("/json")
        .handler(BodyHandler.create(false).setBodyLimit(MAX_BODY_BYTES))
        .handler(Greetings::greetPerson);
    router.get("/payload").handler(Payloads::direct);
    router.get("/ping-pong").handler(Payloads::handedOver);
    router.get("/bytes").handler(new DigestHandler(vertx, settings.blobPath()));
    router.get("/users").handler(new UsersHandler(database));
    router.get("/proxy").handler(new ProxyHandler(vertx, settings.upstreamUrl()));
    router.route().failureHandler(Failures::answer);
    return router;
  }
}
