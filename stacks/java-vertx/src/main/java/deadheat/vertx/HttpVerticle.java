package deadheat.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.FileSystemAccess;
import io.vertx.ext.web.handler.StaticHandler;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.List;
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
  private List<HttpServer> servers = List.of();

  HttpVerticle(Settings settings, Optional<SqlClient> database) {
    this.settings = settings;
    this.database = database;
  }

  @Override
  public Future<?> start() {
    List<HttpServerOptions> listeners = new ArrayList<>();
    listeners.add(options(settings.port()));
    // Without TLS, Vert.x speaks both versions on every port.
    settings.h2cPort().map(this::options).ifPresent(listeners::add);
    settings.tls().map(this::https).ifPresent(listeners::add);
    Router router = router();
    servers =
        listeners.stream()
            .map(options -> vertx.createHttpServer(options).requestHandler(router))
            .toList();
    return Future.all(servers.stream().map(HttpServer::listen).toList());
  }

  /** Lets open requests finish for a short while, then closes all connections. */
  @Override
  public Future<?> stop() {
    return Future.join(
        servers.stream().map(server -> server.shutdown(GRACE_MS, TimeUnit.MILLISECONDS)).toList());
  }

  private HttpServerOptions options(int port) {
    return new HttpServerOptions()
        .setHost(settings.host())
        .setPort(port)
        .setAcceptBacklog(BACKLOG)
        .setIdleTimeout(IDLE_SECONDS);
  }

  /** HTTP/2 or HTTP/1.1, whichever the client chooses in the handshake. */
  private HttpServerOptions https(Settings.Tls tls) {
    return options(tls.port())
        .setSsl(true)
        .setUseAlpn(true)
        .setKeyCertOptions(
            new PemKeyCertOptions().setCertPath(tls.certPath()).setKeyPath(tls.keyPath()));
  }

  private Router router() {
    Router router = Router.router(vertx);
    BodyHandler body = BodyHandler.create(false).setBodyLimit(MAX_BODY_BYTES);
    Items items = new Items(database);
    router.route().handler(new DateHeader(vertx));
    router.get("/plaintext").handler(Greetings::plaintext);
    router.get("/json").handler(Greetings::listPeople);
    router.post("/json").handler(body).handler(Greetings::greetPerson);
    router
        .get("/static/*")
        .handler(new FileTags(vertx.fileSystem(), settings.staticDir(), "/static/"))
        .handler(
            StaticHandler.create(FileSystemAccess.ROOT, settings.staticDir())
                // A file that is replaced shows at once.
                .setCachingEnabled(false)
                .setFilesReadOnly(false));
    router.get("/products").handler(new ProductsHandler());
    router.post("/upload").handler(new UploadHandler());
    router.get("/payload").handler(Payloads::direct);
    router.get("/ping-pong").handler(Payloads::handedOver);
    router.get("/bytes").handler(new DigestHandler(vertx, settings.blobPath()));
    router.get("/users").handler(new UsersHandler(database));
    router.get("/fortunes").handler(new FortunesHandler(database));
    router.get("/items").handler(items::list);
    router.post("/items").handler(body).handler(items::create);
    router.get("/items/:id").handler(items::find);
    router.put("/items/:id").handler(body).handler(items::replace);
    router.delete("/items/:id").handler(items::delete);
    router.get("/proxy").handler(new ProxyHandler(vertx, settings.upstreamUrl()));
    TechEmpower tests = new TechEmpower(database);
    router.route("/techempower/*").handler(TechEmpower::nameServer);
    router.get("/techempower/json").handler(TechEmpower::json);
    router.get("/techempower/plaintext").handler(Greetings::plaintext);
    router.get("/techempower/db").handler(tests::db);
    router.get("/techempower/queries").handler(tests::queries);
    router.get("/techempower/fortunes").handler(new FortunesHandler(database));
    router.get("/techempower/updates").handler(tests::updates);
    router.get("/techempower/cached-queries").handler(tests::cachedQueries);
    router.route().failureHandler(Failures::answer);
    return router;
  }
}
