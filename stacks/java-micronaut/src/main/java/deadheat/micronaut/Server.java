package deadheat.micronaut;

import io.micronaut.runtime.Micronaut;

/** The Micronaut stack. */
public final class Server {
  private Server() {}

  public static void main(String[] args) {
    Micronaut.build(args)
        .banner(false)
        .mainClass(Server.class)
        .propertySources(
            DatabaseUrl.settings(System.getenv("DATABASE_URL")),
            Listeners.settings(System.getenv()))
        .start();
  }
}
