package deadheat.micronaut;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import io.micronaut.context.annotation.Factory;
import jakarta.inject.Singleton;

/** The templates, which the build made classes of. */
@Factory
final class Templates {
  @Singleton
  TemplateEngine engine() {
    return TemplateEngine.createPrecompiled(ContentType.Html);
  }
}
