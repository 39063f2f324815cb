package deadheat.vertx;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpResponseExpectation;
import io.vertx.core.http.PoolOptions;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import java.util.Optional;

/** A slow upstream, relayed. */
final class ProxyHandler implements Handler<RoutingContext> {
  private static final int MAX_CONNECTIONS = 4096; // of each event loop; the default is 5
  private static final int CONNECT_TIMEOUT_MS = 2_000;
  private static final long TIMEOUT_MS = 10_000;

  private final WebClient client;
  private final Optional<String> upstreamUrl;

  ProxyHandler(Vertx vertx, Optional<String> upstreamUrl) {
    this.client =
        WebClient.create(
            vertx,
            new WebClientOptions().setFollowRedirects(false).setConnectTimeout(CONNECT_TIMEOUT_MS),
            new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
    this.upstreamUrl = upstreamUrl;
  }

  @Override
  public void handle(RoutingContext ctx) {
    if (upstreamUrl.isEmpty()) {
      ctx.fail(502);
      return;
    }
    client
        .getAbs(upstreamUrl.get())
        .timeout(TIMEOUT_MS)
        .send()
        .expecting(HttpResponseExpectation.SC_OK)
        .onSuccess(answer -> relay(ctx, answer))
        .onFailure(e -> ctx.fail(502, e));
  }

  private static void relay(RoutingContext ctx, HttpResponse<Buffer> answer) {
    String contentType = answer.getHeader(HttpHeaders.CONTENT_TYPE.toString());
    ctx.response()
        .putHeader(HttpHeaders.CONTENT_TYPE, contentType == null ? "text/plain" : contentType)
        .end(answer.body() == null ? Buffer.buffer() : answer.body());
  }
}
