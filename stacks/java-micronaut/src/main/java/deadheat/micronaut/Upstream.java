package deadheat.micronaut;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.client.annotation.Client;
import java.util.concurrent.CompletableFuture;

/** A slow service, whose address is in application.properties. */
@Client(id = "upstream")
interface Upstream {
  @Get(consumes = MediaType.TEXT_PLAIN)
  CompletableFuture<HttpResponse<byte[]>> fetch();
}
