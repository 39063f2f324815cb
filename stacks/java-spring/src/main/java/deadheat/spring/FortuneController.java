package deadheat.spring;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/** A page of fortunes, asked from PostgreSQL. */
@Controller
class FortuneController {
  record Fortune(int id, String message) {}

  private static final String FORTUNES = "select id, message from fortune";
  private static final Fortune ADDITIONAL =
      new Fortune(0, "Additional fortune added at request time.");

  private final JdbcClient jdbc;

  FortuneController(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  @GetMapping("/fortunes")
  String fortunes(Model model) {
    List<Fortune> fortunes = new ArrayList<>(jdbc.sql(FORTUNES).query(Fortune.class).list());
    fortunes.add(ADDITIONAL);
    fortunes.sort(Comparator.comparing(Fortune::message));
    model.addAttribute("fortunes", fortunes);
    return "fortunes";
  }
}
