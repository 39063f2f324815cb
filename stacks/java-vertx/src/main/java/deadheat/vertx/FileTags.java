package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.file.FileProps;
import io.vertx.core.file.FileSystem;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.Arrays;

/** ETags of a file's time and length, which Vert.x' StaticHandler does not make. */
final class FileTags implements Handler<RoutingContext> {
  private final FileSystem files;
  private final String root;
  private final String mount;

  FileTags(FileSystem files, String root, String mount) {
    this.files = files;
    this.root = root;
    this.mount = mount;
  }

  @Override
  public void handle(RoutingContext ctx) {
    String path = ctx.normalizedPath();
    if (!path.startsWith(mount)) {
      ctx.fail(404);
      return;
    }
    // The handler after this one answers what is not there.
    files
        .props(root + "/" + path.substring(mount.length()))
        .onSuccess(file -> tag(ctx, file))
        .onFailure(failure -> ctx.next());
  }

  private static void tag(RoutingContext ctx, FileProps file) {
    String tag = "\"%x-%x\"".formatted(file.lastModifiedTime(), file.size());
    ctx.response().putHeader(HttpHeaders.ETAG, tag);
    String known = ctx.request().getHeader(HttpHeaders.IF_NONE_MATCH);
    if (known != null && Arrays.stream(known.split(",")).anyMatch(one -> matches(one, tag))) {
      ctx.response().setStatusCode(304).end();
      return;
    }
    // StaticHandler would send a part of a file that the client has another version of.
    String version = ctx.request().getHeader("If-Range");
    if (version != null && !version.equals(tag)) {
      ctx.request().headers().remove("Range");
    }
    ctx.next();
  }

  /** By the weak comparison (RFC 9110, section 8.8.3.2). */
  private static boolean matches(String known, String tag) {
    String one = known.strip();
    return one.equals("*") || one.equals(tag) || one.equals("W/" + tag);
  }
}
