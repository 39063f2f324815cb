package deadheat.quarkus;

import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.Base64;

/** Bodies that are hashed as they come, on a worker thread. */
@Path("upload")
public class UploadResource {
  private static final int PIECE_BYTES = 64 * 1024;

  @POST
  @Consumes(MediaType.APPLICATION_OCTET_STREAM)
  @Produces(MediaType.TEXT_PLAIN)
  public String digest(InputStream body) throws IOException {
    MessageDigest sha256 = Sha256.start();
    byte[] piece = new byte[PIECE_BYTES];
    for (int length = body.read(piece); length != -1; length = body.read(piece)) {
      sha256.update(piece, 0, length);
    }
    return Base64.getEncoder().encodeToString(sha256.digest());
  }
}
