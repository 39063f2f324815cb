package deadheat.vertx;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** SHA-256 of some data, then of the digest, so many times in all; base64. */
final class Digest {
  private Digest() {}

  static String chain(byte[] data, int rounds) {
    MessageDigest sha256 = sha256();
    byte[] digest = data;
    for (int round = 0; round < rounds; round++) {
      digest = sha256.digest(digest);
    }
    return Base64.getEncoder().encodeToString(digest);
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
