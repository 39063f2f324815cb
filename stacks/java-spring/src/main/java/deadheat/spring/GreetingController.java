package deadheat.spring;

import java.util.List;
import java.util.Objects;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Small answers: a text, a list of people, and a greeting for the person in the body. */
@RestController
class GreetingController {
  record Person(String name, String username) {
    Person {
      Objects.requireNonNull(name, "a person has a name");
      Objects.requireNonNull(username, "a person has a username");
    }
  }

  @GetMapping(path = "/plaintext", produces = MediaType.TEXT_PLAIN_VALUE)
  String plaintext() {
    return "Hello, World!";
  }

  @GetMapping("/json")
  List<Person> people() {
    return List.of(new Person("John", "Doe"));
  }

  @PostMapping(
      path = "/json",
      consumes = MediaType.APPLICATION_JSON_VALUE,
      produces = MediaType.TEXT_PLAIN_VALUE)
  String greet(@RequestBody Person person) {
    return "Hello, " + person.name() + "!";
  }
}
