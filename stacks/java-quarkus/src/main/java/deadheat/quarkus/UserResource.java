package deadheat.quarkus;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.ArrayList;
import java.util.List;

/** The first ten users, asked from PostgreSQL. */
@Path("users")
public class UserResource {
  /** A row. */
  public record User(int id, String email) {}

  private static final String FIRST_USERS = "select id, email from users order by id limit 10";

  private final Pool pool;

  UserResource(Pool pool) {
    this.pool = pool;
  }

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  public Uni<List<User>> firstUsers() {
    return pool.preparedQuery(FIRST_USERS).execute().map(UserResource::toUsers);
  }

  private static List<User> toUsers(RowSet<Row> rows) {
    List<User> users = new ArrayList<>(rows.size());
    for (Row row : rows) {
      users.add(new User(row.getInteger("id"), row.getString("email")));
    }
    return users;
  }
}
