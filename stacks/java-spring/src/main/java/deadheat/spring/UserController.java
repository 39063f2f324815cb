package deadheat.spring;

import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The first ten users, asked from PostgreSQL. */
@RestController
class UserController {
  record User(int id, String email) {}

  private static final String FIRST_USERS = "select id, email from users order by id limit 10";

  private final JdbcClient jdbc;

  UserController(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  @GetMapping("/users")
  List<User> firstUsers() {
    return jdbc.sql(FIRST_USERS).query(User.class).list();
  }
}
