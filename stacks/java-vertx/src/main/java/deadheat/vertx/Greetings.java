package deadheat.vertx;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;

/** Small answers: a text, a list of people, and a greeting for the person in the body. */
final class Greetings {
  private static final String TEXT = "text/plain; charset=utf-8";

  private Greetings() {}

  static void plaintext(RoutingContext ctx) {
    ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, TEXT).end("Hello, World!");
  }

  static void listPeople(RoutingContext ctx) {
    ctx.json(JsonArray.of(JsonObject.of("name", "John", "username", "Doe")));
  }

  static void greetPerson(RoutingContext ctx) {
    JsonObject person = JsonBody.object(ctx);
    if (person.getValue("name") instanceof String name
        && person.getValue("username") instanceof String) {
      ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, TEXT).end("Hello, " + name + "!");
    } else {
      ctx.fail(400);
    }
  }
}
