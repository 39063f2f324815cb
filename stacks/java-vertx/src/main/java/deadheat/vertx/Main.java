package deadheat.vertx;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.sqlclient.Pool;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Starts an event loop for each CPU, and ends them on SIGTERM. */
public final class Main {
  private static final Logger LOG = Logger.getLogger(Main.class.getName());
  private static final long CLOSE_SECONDS = 1;

  private Main() {}

  public static void main(String[] args) {
    Settings settings = Settings.from(System.getenv());
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(settings.cpus()));
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
    // One pool for all event loops: POOL_SIZE is the limit of the whole process.
    Optional<Pool> pool =
        settings.databaseUrl().map(url -> Database.pool(vertx, url, settings.poolSize()));
    return vertx
        .deployVerticle(
            new PayloadWorker(), new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER))
        .compose(
            worker ->
                vertx.deployVerticle(
                    () -> new HttpVerticle(settings, pool),
                    new DeploymentOptions().setInstances(settings.cpus())));
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
