package deadheat.micronaut;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Header;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The files of a folder, with ETags of their time and length. Micronaut's own answers have none, and
 * the last 1,000 bytes of a file were its first 1,001 in them.
 */
@Controller
final class FileController {
  private final Path root;

  FileController(StackSettings settings) {
    this.root = settings.staticDir().toAbsolutePath().normalize();
  }

  @Get("/static/{+path}")
  @ExecuteOn(TaskExecutors.BLOCKING)
  HttpResponse<?> file(String path, @Header(HttpHeaders.IF_NONE_MATCH) @Nullable String known)
      throws IOException {
    Path file = root.resolve(path).normalize();
    if (!file.startsWith(root) || !Files.isRegularFile(file)) {
      return HttpResponse.notFound();
    }
    String tag =
        "\"%x-%x\"".formatted(Files.getLastModifiedTime(file).toMillis(), Files.size(file));
    if (known != null && Arrays.stream(known.split(",")).anyMatch(one -> matches(one, tag))) {
      return HttpResponse.notModified().header(HttpHeaders.ETAG, tag);
    }
    String name = file.getFileName().toString();
    return HttpResponse.ok(Files.readAllBytes(file))
        .contentType(MediaType.forFilename(name))
        .header(HttpHeaders.ETAG, tag);
  }

  /** By the weak comparison (RFC 9110, section 8.8.3.2). */
  private static boolean matches(String known, String tag) {
    String one = known.strip();
    return one.equals("*") || one.equals(tag) || one.equals("W/" + tag);
  }
}
