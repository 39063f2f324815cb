package deadheat.micronaut;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A slow upstream, relayed. */
@Controller
final class ProxyController {
  private static final Logger LOG = LoggerFactory.getLogger(ProxyController.class);

  private final Upstream upstream;

  ProxyController(Upstream upstream) {
    this.upstream = upstream;
  }

  @Get("/proxy")
  CompletableFuture<HttpResponse<byte[]>> relay() {
    return upstream
        .fetch()
        .handle((answer, failure) -> failure == null ? relayed(answer) : failed(failure));
  }

  private static HttpResponse<byte[]> relayed(HttpResponse<byte[]> answer) {
    return HttpResponse.ok(answer.body())
        .contentType(answer.getContentType().orElse(MediaType.TEXT_PLAIN_TYPE));
  }

  private static HttpResponse<byte[]> failed(Throwable failure) {
    LOG.warn("the upstream failed", failure);
    return HttpResponse.status(HttpStatus.BAD_GATEWAY);
  }
}
