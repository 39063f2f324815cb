package deadheat.quarkus;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jboss.resteasy.reactive.RestPath;
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Items in PostgreSQL: read, listed, created, replaced and deleted. */
@Path("items")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
public class ItemResource {
  /** A row. */
  public record Item(int id, String name, int price) {}

  private static final String FIND = "select id, name, price from items where id = $1";
  private static final String PAGE =
      "select id, name, price from items where id > $1 order by id limit $2";
  private static final String CREATE =
      "insert into items (name, price) values ($1, $2) returning id, name, price";
  private static final String REPLACE =
      "update items set name = $1, price = $2 where id = $3 returning id, name, price";
  private static final String DELETE = "delete from items where id = $1";

  private final Pool pool;

  ItemResource(Pool pool) {
    this.pool = pool;
  }

  @GET
  @Path("{id}")
  public Uni<Item> find(@RestPath @Positive int id) {
    return one(FIND, Tuple.of(id));
  }

  @GET
  public Uni<List<Item>> page(
      @RestQuery @DefaultValue("0") String after, @RestQuery @DefaultValue("20") String limit) {
    Tuple range = Tuple.of(number(after, 0, Integer.MAX_VALUE), number(limit, 1, 100));
    return pool.preparedQuery(PAGE).execute(range).map(ItemResource::toItems);
  }

  @POST
  public Uni<RestResponse<Item>> create(@NotNull @Valid ItemData data) {
    return one(CREATE, Tuple.of(data.name(), data.price()))
        .map(
            item ->
                ResponseBuilder.<Item>created(URI.create("/items/" + item.id()))
                    .entity(item)
                    .build());
  }

  @PUT
  @Path("{id}")
  public Uni<Item> replace(@RestPath @Positive int id, @NotNull @Valid ItemData data) {
    return one(REPLACE, Tuple.of(data.name(), data.price(), id));
  }

  @DELETE
  @Path("{id}")
  public Uni<Void> delete(@RestPath @Positive int id) {
    return pool.preparedQuery(DELETE)
        .execute(Tuple.of(id))
        .invoke(
            result -> {
              if (result.rowCount() == 0) {
                throw new NotFoundException();
              }
            })
        .replaceWithVoid();
  }

  private Uni<Item> one(String statement, Tuple values) {
    return pool.preparedQuery(statement)
        .execute(values)
        .map(ItemResource::toItems)
        .map(items -> items.stream().findFirst().orElseThrow(NotFoundException::new));
  }

  private static List<Item> toItems(RowSet<Row> rows) {
    List<Item> items = new ArrayList<>(rows.size());
    for (Row row : rows) {
      items.add(new Item(row.getInteger("id"), row.getString("name"), row.getInteger("price")));
    }
    return items;
  }

  /** Quarkus would answer 404 to what is no number. */
  private static int number(String text, int least, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a number that is out of range.
    }
    throw new BadRequestException("a number from " + least + " to " + most + " is needed");
  }
}
