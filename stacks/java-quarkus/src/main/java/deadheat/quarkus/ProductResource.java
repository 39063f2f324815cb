package deadheat.quarkus;

import io.quarkus.vertx.http.Compressed;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.stream.IntStream;
import org.jboss.resteasy.reactive.ResponseHeader;
import org.jboss.resteasy.reactive.RestQuery;

/** Products that are computed, compressed for clients that accept it. */
@Path("products")
public class ProductResource {
  private static final int COUNT = 100;
  private static final int MAX_FROM = 1_000_000;

  /** A product. */
  public record Product(int id, String name, String category, int price, int stock) {
    private static final String[] CATEGORIES = {"books", "garden", "kitchen", "music", "tools"};

    static Product of(int id) {
      return new Product(
          id,
          "Product " + id,
          CATEGORIES[id % CATEGORIES.length],
          id * 37 % 10_007,
          id * 31 % 101);
    }
  }

  @GET
  @NonBlocking
  @Compressed
  @ResponseHeader(name = HttpHeaders.VARY, value = HttpHeaders.ACCEPT_ENCODING)
  @Produces(MediaType.APPLICATION_JSON)
  public List<Product> products(@RestQuery String from) {
    int first = parse(from);
    return IntStream.range(first, first + COUNT).mapToObj(Product::of).toList();
  }

  /** Quarkus would answer 404 to what is no number. */
  private static int parse(String from) {
    try {
      int first = Integer.parseInt(from);
      if (first >= 1 && first <= MAX_FROM) {
        return first;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number that is out of range.
    }
    throw new BadRequestException("from must be a number from 1 to " + MAX_FROM);
  }
}
