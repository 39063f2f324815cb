package deadheat.micronaut;

import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.exceptions.HttpStatusException;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** A file's digest, digested again and again, away from the event loops. */
@Controller
final class DigestController {
  private static final int MAX_ROUNDS = 1_000_000;

  private final Path blobPath;

  DigestController(StackSettings settings) {
    this.blobPath = settings.blobPath();
  }

  @Get("/bytes")
  @Produces(MediaType.TEXT_PLAIN)
  @ExecuteOn(TaskExecutors.BLOCKING)
  String digest(@QueryValue int rounds) throws IOException {
    if (rounds < 1 || rounds > MAX_ROUNDS) {
      throw new HttpStatusException(
          HttpStatus.BAD_REQUEST, "rounds must be a number from 1 to " + MAX_ROUNDS);
    }
    return chain(Files.readAllBytes(blobPath), rounds);
  }

  /** SHA-256 of the data, then of the digest, so many times in all; base64. */
  private static String chain(byte[] data, int rounds) {
    MessageDigest sha256 = sha256();
    byte[] digest = data;
    for (int round = 0; round < rounds; round++) {
      digest = sha256.digest(digest);
    }
    return Base64.getEncoder().encodeToString(digest);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
