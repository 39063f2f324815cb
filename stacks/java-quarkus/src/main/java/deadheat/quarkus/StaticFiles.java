package deadheat.quarkus;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.FileSystemAccess;
import io.vertx.ext.web.handler.StaticHandler;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The files of a folder outside the application, which Quarkus leaves to Vert.x. */
@Singleton
public class StaticFiles {
  private static final String MOUNT = "/static/";

  private final Vertx vertx;
  private final String root;

  StaticFiles(Vertx vertx, @ConfigProperty(name = "stack.static-dir") String root) {
    this.vertx = vertx;
    this.root = root;
  }

  void register(@Observes Router router) {
    router
        .get(MOUNT + "*")
        .handler(new FileTags(vertx.fileSystem(), root, MOUNT))
        .handler(
            StaticHandler.create(FileSystemAccess.ROOT, root)
                // A file that is replaced shows at once.
                .setCachingEnabled(false)
                .setFilesReadOnly(false));
  }
}
