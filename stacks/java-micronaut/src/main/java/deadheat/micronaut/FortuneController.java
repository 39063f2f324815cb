package deadheat.micronaut;

import gg.jte.TemplateEngine;
import gg.jte.output.Utf8ByteOutput;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javax.sql.DataSource;

/** A page of fortunes, asked from PostgreSQL. */
@Controller
@Requires(beans = DataSource.class)
final class FortuneController {
  private static final String HTML = MediaType.TEXT_HTML + "; charset=utf-8";
  private static final String FORTUNES = "select id, message from fortune";
  private static final Fortune ADDITIONAL =
      new Fortune(0, "Additional fortune added at request time.");

  private final DataSource pool;
  private final TemplateEngine templates;

  FortuneController(DataSource pool, TemplateEngine templates) {
    this.pool = pool;
    this.templates = templates;
  }

  @Get("/fortunes")
  @Produces(HTML)
  @ExecuteOn(TaskExecutors.BLOCKING)
  byte[] fortunes() throws SQLException {
    List<Fortune> fortunes = allFortunes();
    fortunes.add(ADDITIONAL);
    fortunes.sort(Comparator.comparing(Fortune::message));
    Utf8ByteOutput page = new Utf8ByteOutput();
    templates.render("fortunes.jte", fortunes, page);
    return page.toByteArray();
  }

  private List<Fortune> allFortunes() throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(FORTUNES);
        ResultSet rows = statement.executeQuery()) {
      List<Fortune> fortunes = new ArrayList<>();
      while (rows.next()) {
        fortunes.add(new Fortune(rows.getInt("id"), rows.getString("message")));
      }
      return fortunes;
    }
  }
}
