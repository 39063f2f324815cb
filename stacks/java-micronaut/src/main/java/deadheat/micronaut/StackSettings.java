package deadheat.micronaut;

import io.micronaut.context.annotation.ConfigurationProperties;
import java.nio.file.Path;

/** The settings of application.properties that are this application's own. */
@ConfigurationProperties("stack")
record StackSettings(Path blobPath, Path staticDir) {}
