package deadheat.spring;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import jakarta.validation.constraints.Size;
import java.net.URI;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Items in PostgreSQL: read, listed, created, replaced and deleted. */
@RestController
@RequestMapping("/items")
class ItemController {
  record Item(int id, String name, int price) {}

  /** An item as a client sends it: the database chooses the id. */
  record ItemData(
      @NotNull @Size(min = 1, max = 100) String name,
      @NotNull @Min(0) @Max(1_000_000) Integer price) {}

  private static final String FIND = "select id, name, price from items where id = ?";
  private static final String PAGE =
      "select id, name, price from items where id > ? order by id limit ?";
  private static final String CREATE =
      "insert into items (name, price) values (?, ?) returning id, name, price";
  private static final String REPLACE =
      "update items set name = ?, price = ? where id = ? returning id, name, price";
  private static final String DELETE = "delete from items where id = ?";

  private final JdbcClient jdbc;

  ItemController(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  @GetMapping("/{id}")
  Item find(@PathVariable @Positive int id) {
    return jdbc.sql(FIND)
        .param(id)
        .query(Item.class)
        .optional()
        .orElseThrow(ItemController::notFound);
  }

  @GetMapping
  List<Item> page(
      @RequestParam(defaultValue = "0") @PositiveOrZero int after,
      @RequestParam(defaultValue = "20") @Min(1) @Max(100) int limit) {
    return jdbc.sql(PAGE).params(after, limit).query(Item.class).list();
  }

  @PostMapping
  ResponseEntity<Item> create(@Valid @RequestBody ItemData data) {
    Item item = jdbc.sql(CREATE).params(data.name(), data.price()).query(Item.class).single();
    return ResponseEntity.created(URI.create("/items/" + item.id())).body(item);
  }

  @PutMapping("/{id}")
  Item replace(@PathVariable @Positive int id, @Valid @RequestBody ItemData data) {
    return jdbc.sql(REPLACE)
        .params(data.name(), data.price(), id)
        .query(Item.class)
        .optional()
        .orElseThrow(ItemController::notFound);
  }

  @DeleteMapping("/{id}")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void delete(@PathVariable @Positive int id) {
    if (jdbc.sql(DELETE).param(id).update() == 0) {
      throw notFound();
    }
  }

  private static ResponseStatusException notFound() {
    return new ResponseStatusException(HttpStatus.NOT_FOUND);
  }
}
