package deadheat.micronaut;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.exceptions.ContentLengthExceededException;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** Bodies that are hashed as they come, away from the event loops. */
@Controller
final class UploadController {
  private static final int PIECE_BYTES = 64 * 1024;

  @Post("/upload")
  @Consumes(MediaType.APPLICATION_OCTET_STREAM)
  @Produces(MediaType.TEXT_PLAIN)
  @ExecuteOn(TaskExecutors.BLOCKING)
  String digest(@Body @Nullable InputStream body) throws IOException, NoSuchAlgorithmException {
    MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
    if (body == null) {
      return base64(sha256.digest());
    }
    byte[] piece = new byte[PIECE_BYTES];
    try {
      for (int length = body.read(piece); length != -1; length = body.read(piece)) {
        sha256.update(piece, 0, length);
      }
    } catch (IOException e) {
      // Micronaut answers 413 to the cause, and 500 to the exception around it.
      if (e.getCause() instanceof ContentLengthExceededException tooLong) {
        throw tooLong;
      }
      throw e;
    }
    return base64(sha256.digest());
  }

  private static String base64(byte[] digest) {
    return Base64.getEncoder().encodeToString(digest);
  }
}
