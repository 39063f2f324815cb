package deadheat.quarkus;

import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotSupportedException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.jboss.resteasy.reactive.RestHeader;

/** Small answers: a text, a list of people, and a greeting for the guest in the body. */
@Path("/")
@NonBlocking
public class GreetingResource {
  /** Somebody. */
  public record Person(String name, String username) {}

  @GET
  @Path("plaintext")
  @Produces(MediaType.TEXT_PLAIN)
  public String plaintext() {
    return "Hello, World!";
  }

  @GET
  @Path("json")
  @Produces(MediaType.APPLICATION_JSON)
  public List<Person> people() {
    return List.of(new Person("John", "Doe"));
  }

  @POST
  @Path("json")
  @Consumes(MediaType.APPLICATION_JSON)
  @Produces(MediaType.TEXT_PLAIN)
  public String greet(@RestHeader(HttpHeaders.CONTENT_TYPE) String contentType, Guest guest) {
    // Without a content type, Quarkus takes the body for JSON.
    if (contentType == null) {
      throw new NotSupportedException("a guest is sent as JSON");
    }
    // An empty body and a JSON null are both no guest.
    if (guest == null) {
      throw new BadRequestException("a guest is needed");
    }
    return "Hello, " + guest.name() + "!";
  }
}
