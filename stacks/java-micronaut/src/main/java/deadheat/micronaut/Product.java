package deadheat.micronaut;

import io.micronaut.serde.annotation.Serdeable;

/** A product that is computed from its id. */
@Serdeable
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
