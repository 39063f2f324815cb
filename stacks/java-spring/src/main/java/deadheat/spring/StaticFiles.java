package deadheat.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.Resource;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** The files of a folder, with ETags of their time and length; by default, Spring sends none. */
@Configuration(proxyBeanMethods = false)
class StaticFiles implements WebMvcConfigurer {
  private final StackProperties properties;

  StaticFiles(StackProperties properties) {
    this.properties = properties;
  }

  @Override
  public void addResourceHandlers(ResourceHandlerRegistry registry) {
    registry
        .addResourceHandler("/static/**")
        .addResourceLocations(properties.staticDir().toUri().toString())
        .setEtagGenerator(StaticFiles::etag);
  }

  private static String etag(Resource file) {
    try {
      return "\"%x-%x\"".formatted(file.lastModified(), file.contentLength());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
