import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The {{id}} stack: the JDK's own HTTP server until {{framework}} takes its place. */
final class Main {
  private static final int BACKLOG = 1024;

  private Main() {}

  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    var address = new InetSocketAddress(System.getenv("HOST"), port);
    var server = HttpServer.create(address, BACKLOG);
    server.createContext("/", new Routes());
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
  }
}
