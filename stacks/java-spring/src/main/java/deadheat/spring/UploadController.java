package deadheat.spring;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Bodies that are hashed as they come. */
@RestController
class UploadController {
  private static final int PIECE_BYTES = 64 * 1024;

  @PostMapping(path = "/upload", produces = MediaType.TEXT_PLAIN_VALUE)
  String digest(InputStream body) throws IOException, NoSuchAlgorithmException {
    MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
    byte[] piece = new byte[PIECE_BYTES];
    for (int length = body.read(piece); length != -1; length = body.read(piece)) {
      sha256.update(piece, 0, length);
    }
    return Base64.getEncoder().encodeToString(sha256.digest());
  }
}
