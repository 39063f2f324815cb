package deadheat.micronaut;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Delete;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Put;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import java.net.URI;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Items: read, listed, created, replaced and deleted. What is empty is answered with 404. */
@Controller("/items")
@Requires(beans = ItemRepository.class)
@ExecuteOn(TaskExecutors.BLOCKING)
class ItemController {
  private final ItemRepository items;

  ItemController(ItemRepository items) {
    this.items = items;
  }

  @Get("/{id}")
  Optional<Item> find(@Positive int id) throws SQLException {
    return items.find(id);
  }

  @Get
  List<Item> page(
      @QueryValue(defaultValue = "0") @PositiveOrZero int after,
      @QueryValue(defaultValue = "20") @Min(1) @Max(100) int limit)
      throws SQLException {
    return items.page(after, limit);
  }

  @Post
  HttpResponse<Item> create(@Valid @Body ItemData data) throws SQLException {
    Item item = items.create(data);
    return HttpResponse.created(item, URI.create("/items/" + item.id()));
  }

  @Put("/{id}")
  Optional<Item> replace(@Positive int id, @Valid @Body ItemData data) throws SQLException {
    return items.replace(id, data);
  }

  @Delete("/{id}")
  HttpResponse<Void> delete(@Positive int id) throws SQLException {
    return items.delete(id) ? HttpResponse.noContent() : HttpResponse.notFound();
  }
}
