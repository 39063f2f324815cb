package deadheat.spring;

import java.net.URI;
import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The settings of application.yaml that are this application's own. */
@ConfigurationProperties("stack")
record StackProperties(
    Integer tlsPort,
    String tlsCertificate,
    String tlsKey,
    Integer h2cPort,
    Path blobPath,
    Path staticDir,
    URI databaseUrl,
    String upstreamUrl) {}
