package deadheat.quarkus;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Gives every answer the Date header, which Quarkus leaves out. */
@Singleton
public class DateHeader {
  private record Stamp(long second, String text) {}

  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);
  private static final int PRIORITY = 100;

  /** Formatted once a second. */
  private volatile Stamp latest = new Stamp(0, "");

  void register(@Observes Filters filters) {
    filters.register(this::add, PRIORITY);
  }

  private void add(RoutingContext ctx) {
    ctx.response().putHeader(HttpHeaders.DATE, now());
    ctx.next();
  }

  private String now() {
    Instant now = Instant.now();
    Stamp stamp = latest;
    if (stamp.second() != now.getEpochSecond()) {
      stamp = new Stamp(now.getEpochSecond(), IMF_FIXDATE.format(now));
      latest = stamp;
    }
    return stamp.text();
  }
}
