package deadheat.vertx;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
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
    Buffer body = ctx.body().buffer();
    try {
      if (body != null
          && Json.decodeValue(body) instanceof JsonObject person
          && person.getValue("name") instanceof String name) {
        ctx.response().putHeader(HttpHeaders.CONTENT_TYPE, TEXT).end("Hello, " + name + "!");
      } else {
        ctx.fail(400);
      }
    } catch (DecodeException e) {
      ctx.fail(400);
    }
  }
}
