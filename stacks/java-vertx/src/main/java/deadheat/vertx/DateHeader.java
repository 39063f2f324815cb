package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Dates every answer, which Vert.x leaves to the application. The text is renewed each second. */
final class DateHeader implements Handler<RoutingContext> {
  private static final long RENEWAL_MS = 1_000;

  // RFC_1123_DATE_TIME would write the first nine days of a month with one digit, against RFC 9110.
  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

  private CharSequence now = now();

  DateHeader(Vertx vertx) {
    vertx.setPeriodic(RENEWAL_MS, timer -> now = now());
  }

  @Override
  public void handle(RoutingContext ctx) {
    ctx.response().putHeader(HttpHeaders.DATE, now);
    ctx.next();
  }

  private static CharSequence now() {
    return HttpHeaders.createOptimized(IMF_FIXDATE.format(ZonedDateTime.now(ZoneOffset.UTC)));
  }
}
