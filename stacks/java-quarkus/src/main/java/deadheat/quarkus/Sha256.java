package deadheat.quarkus;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, again and again. */
final class Sha256 {
  private Sha256() {}

  /** The digest of the data, then of the digest, so many times in all. */
  static byte[] chain(byte[] data, int rounds) {
    MessageDigest sha256 = start();
    byte[] digest = data;
    for (int round = 0; round < rounds; round++) {
      digest = sha256.digest(digest);
    }
    return digest;
  }

  /** A digest that nothing has been added to. */
  static MessageDigest start() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
