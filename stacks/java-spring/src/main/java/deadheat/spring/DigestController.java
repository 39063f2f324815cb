package deadheat.spring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** A file's digest, digested again and again. */
@RestController
class DigestController {
  private static final int MAX_ROUNDS = 1_000_000;

  private final Path blobPath;

  DigestController(StackProperties properties) {
    this.blobPath = properties.blobPath();
  }

  @GetMapping(path = "/bytes", produces = MediaType.TEXT_PLAIN_VALUE)
  String digest(@RequestParam int rounds) throws IOException {
    if (rounds < 1 || rounds > MAX_ROUNDS) {
      throw new ResponseStatusException(
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
