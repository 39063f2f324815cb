package deadheat.micronaut;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.serde.annotation.Serdeable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The first ten users, asked from PostgreSQL. */
@Controller
@Requires(beans = DataSource.class)
final class UserController {
  @Serdeable
  record User(int id, String email) {}

  private static final String FIRST_USERS = "select id, email from users order by id limit 10";

  private final DataSource pool;

  UserController(DataSource pool) {
    this.pool = pool;
  }

  @Get("/users")
  @ExecuteOn(TaskExecutors.BLOCKING)
  List<User> firstUsers() throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(FIRST_USERS);
        ResultSet rows = statement.executeQuery()) {
      List<User> users = new ArrayList<>();
      while (rows.next()) {
        users.add(new User(rows.getInt("id"), rows.getString("email")));
      }
      return users;
    }
  }
}
