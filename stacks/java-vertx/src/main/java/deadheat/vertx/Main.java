package deadheat.vertx;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.sqlclient.SqlClient;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Starts an event loop for each CPU, and ends them on SIGTERM. */
public final class Main {
  private static final Logger LOG = Logger.getLogger(Main.class.getName());
  private static final long CLOSE_SECONDS = 1;

  private Main() {}

  public static void main(String[] args) {
    Settings settings = Settings.from(System.getenv());
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(settings.cpus())
                .setPreferNativeTransport(true));
    if (!vertx.isNativeTransportEnabled()) {
      LOG.log(Level.WARNING, "no native transport", vertx.unavailableNativeTransportCause());
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(vertx), "shutdown"));
    deploy(vertx, settings)
        .onFailure(
            e -> {
              LOG.log(Level.SEVERE, "cannot start", e);
              System.exit(1);
            });
  }

  private static Future<String> deploy(Vertx vertx, Settings settings) {
    vertx.eventBus().registerDefaultCodec(Payload.class, new PayloadCodec());
    return vertx
        .deployVerticle(
            new PayloadWorker(), new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER))
        .compose(
            worker ->
                vertx.deployVerticle(
                    verticles(vertx, settings),
                    new DeploymentOptions().setInstances(settings.cpus())));
  }

  /** Verticles that take turns with the database's clients. */
  private static Supplier<HttpVerticle> verticles(Vertx vertx, Settings settings) {
    List<SqlClient> clients =
        settings
            .databaseUrl()
            .map(url -> Database.clients(vertx, url, settings.poolSize(), settings.cpus()))
            .orElse(List.of());
    AtomicInteger turn = new AtomicInteger();
    return () -> {
      Optional<SqlClient> database =
          clients.isEmpty()
              ? Optional.empty()
              : Optional.of(clients.get(turn.getAndIncrement() % clients.size()));
      return new HttpVerticle(settings, database);
    };
  }

  /** Undeploys the verticles, which let open requests finish for a short while. */
  private static void close(Vertx vertx) {
    CountDownLatch closed = new CountDownLatch(1);
    vertx.close().onComplete(result -> closed.countDown());
    try {
      closed.await(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
