package deadheat.micronaut;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Products that are computed. Micronaut compresses answers of more than a kibibyte for clients that
 * accept it, and does not say that they depend on this.
 */
@Controller
class ProductController {
  private static final int COUNT = 100;
  private static final int MAX_FROM = 1_000_000;

  @Get("/products")
  HttpResponse<List<Product>> products(@QueryValue @Min(1) @Max(MAX_FROM) int from) {
    List<Product> products = IntStream.range(from, from + COUNT).mapToObj(Product::of).toList();
    return HttpResponse.ok(products).header(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
  }
}
