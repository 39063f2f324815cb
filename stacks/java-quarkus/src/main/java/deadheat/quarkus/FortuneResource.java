package deadheat.quarkus;

import io.quarkus.qute.CheckedTemplate;
import io.quarkus.qute.TemplateInstance;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A page of fortunes, asked from PostgreSQL. */
@Path("fortunes")
public class FortuneResource {
  /** A row. */
  public record Fortune(int id, String message) {}

  /** The pages, from resources/templates/FortuneResource. */
  @CheckedTemplate
  static class Templates {
    private Templates() {}

    static native TemplateInstance fortunes(List<Fortune> fortunes);
  }

  private static final String FORTUNES = "select id, message from fortune";
  private static final Fortune ADDITIONAL =
      new Fortune(0, "Additional fortune added at request time.");

  private final Pool pool;

  FortuneResource(Pool pool) {
    this.pool = pool;
  }

  @GET
  @Produces(MediaType.TEXT_HTML)
  public Uni<TemplateInstance> fortunes() {
    return pool.preparedQuery(FORTUNES)
        .execute()
        .map(FortuneResource::toFortunes)
        .map(Templates::fortunes);
  }

  /** The rows and one more, by message. */
  private static List<Fortune> toFortunes(RowSet<Row> rows) {
    List<Fortune> fortunes = new ArrayList<>(rows.size() + 1);
    for (Row row : rows) {
      fortunes.add(new Fortune(row.getInteger("id"), row.getString("message")));
    }
    fortunes.add(ADDITIONAL);
    fortunes.sort(Comparator.comparing(Fortune::message));
    return fortunes;
  }
}
