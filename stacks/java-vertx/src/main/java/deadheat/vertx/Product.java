package deadheat.vertx;

import io.vertx.core.json.JsonObject;

/** A product that is computed from its id. */
final class Product {
  private static final String[] CATEGORIES = {"books", "garden", "kitchen", "music", "tools"};

  private Product() {}

  static JsonObject of(int id) {
    return JsonObject.of(
        "id", id,
        "name", "Product " + id,
        "category", CATEGORIES[id % CATEGORIES.length],
        "price", id * 37 % 10_007,
        "stock", id * 31 % 101);
  }
}
