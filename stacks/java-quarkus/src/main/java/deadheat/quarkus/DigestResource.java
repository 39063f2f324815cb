package deadheat.quarkus;

import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Base64;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.resteasy.reactive.RestQuery;

/** A file's digest, digested again and again. */
@Path("bytes")
public class DigestResource {
  private static final int MAX_ROUNDS = 1_000_000;

  private final java.nio.file.Path blobPath;

  DigestResource(@ConfigProperty(name = "stack.blob-path") java.nio.file.Path blobPath) {
    this.blobPath = blobPath;
  }

  /** It runs on a worker thread, like every method that is neither reactive nor non-blocking. */
  @GET
  @Produces(MediaType.TEXT_PLAIN)
  public String digest(@RestQuery String rounds) throws IOException {
    int times = parse(rounds);
    byte[] digest = Sha256.chain(Files.readAllBytes(blobPath), times);
    return Base64.getEncoder().encodeToString(digest);
  }

  /** Quarkus would answer 404 to what is no number. */
  private static int parse(String rounds) {
    try {
      int times = Integer.parseInt(rounds);
      if (times >= 1 && times <= MAX_ROUNDS) {
        return times;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number that is out of range.
    }
    throw new BadRequestException("rounds must be a number from 1 to " + MAX_ROUNDS);
  }
}
