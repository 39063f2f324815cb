package deadheat.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** The Spring Boot stack. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class Server {
  public static void main(String[] args) {
    SpringApplication.run(Server.class, args);
  }
}
