package deadheat.micronaut;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Header;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import java.util.List;

/** Small answers: a text, a list of people, and a greeting for the person in the body. */
@Controller
final class GreetingController {
  @Get("/plaintext")
  @Produces(MediaType.TEXT_PLAIN)
  String plaintext() {
    return "Hello, World!";
  }

  @Get("/json")
  List<Person> people() {
    return List.of(new Person("John", "Doe"));
  }

  /** The header is asked for because Micronaut takes a body without a content type for JSON. */
  @Post("/json")
  @Consumes(MediaType.APPLICATION_JSON)
  @Produces(MediaType.TEXT_PLAIN)
  String greet(@Header(HttpHeaders.CONTENT_TYPE) MediaType contentType, @Body Person person) {
    return "Hello, " + person.name() + "!";
  }
}
