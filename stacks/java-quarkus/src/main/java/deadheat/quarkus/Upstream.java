package deadheat.quarkus;

import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;
import org.jboss.resteasy.reactive.RestResponse;

/** A slow service, whose address is in application.properties. */
@RegisterRestClient(configKey = "upstream")
public interface Upstream {
  @GET
  Uni<RestResponse<byte[]>> fetch();
}
