package deadheat.spring;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Products that are computed. Tomcat compresses the answer for clients that accept it. */
@RestController
class ProductController {
  private static final int COUNT = 100;
  private static final int MAX_FROM = 1_000_000;

  record Product(int id, String name, String category, int price, int stock) {
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

  @GetMapping("/products")
  List<Product> products(@RequestParam @Min(1) @Max(MAX_FROM) int from) {
    return IntStream.range(from, from + COUNT).mapToObj(Product::of).toList();
  }
}
