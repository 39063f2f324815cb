package deadheat.vertx;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;

/** A request's body, as JSON. */
final class JsonBody {
  private JsonBody() {}

  /** The object in the body. Anything else is refused. */
  static JsonObject object(RoutingContext ctx) {
    if (!isJson(ctx.request().getHeader(HttpHeaders.CONTENT_TYPE))) {
      throw new HttpException(415);
    }
    Buffer body = ctx.body().buffer();
    try {
      if (body != null && Json.decodeValue(body) instanceof JsonObject object) {
        return object;
      }
    } catch (DecodeException e) {
      // Refused below, like JSON that is no object.
    }
    throw new HttpException(400);
  }

  /** Any letter case will do, which {@code Route.consumes} does not accept in a subtype. */
  private static boolean isJson(String contentType) {
    return contentType != null
        && contentType.split(";", 2)[0].strip().equalsIgnoreCase("application/json");
  }
}
