package deadheat.quarkus;

import io.quarkus.logging.Log;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response.Status;
import org.eclipse.microprofile.rest.client.inject.RestClient;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** A slow upstream, relayed. */
@Path("proxy")
public class ProxyResource {
  private final Upstream upstream;

  ProxyResource(@RestClient Upstream upstream) {
    this.upstream = upstream;
  }

  @GET
  public Uni<RestResponse<byte[]>> relay() {
    return upstream
        .fetch()
        .map(ProxyResource::relayed)
        .onFailure()
        .invoke(e -> Log.error("the upstream failed", e))
        .onFailure()
        .transform(e -> new WebApplicationException("the upstream failed", e, Status.BAD_GATEWAY));
  }

  private static RestResponse<byte[]> relayed(RestResponse<byte[]> answer) {
    MediaType type = answer.getMediaType();
    return ResponseBuilder.ok(answer.getEntity(), type == null ? MediaType.TEXT_PLAIN_TYPE : type)
        .build();
  }
}
