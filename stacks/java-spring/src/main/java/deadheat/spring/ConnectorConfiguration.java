package deadheat.spring;

import java.util.List;
import java.util.stream.Stream;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardThreadExecutor;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.springframework.boot.tomcat.CompressionConnectorCustomizer;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** HTTPS and HTTP/2, each on a port of its own. Spring Boot configures one connector; these are like it. */
@Configuration(proxyBeanMethods = false)
class ConnectorConfiguration {
  /** Runs after Spring Boot's own customizers. */
  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> connectors(StackProperties properties) {
    return factory -> {
      List<Connector> others =
          Stream.of(https(properties), h2c(properties)).flatMap(Stream::ofNullable).toList();
      for (Connector other : others) {
        protocol(other).setAddress(factory.getAddress());
        factory.getConnectorCustomizers().forEach(customizer -> customizer.customize(other));
        new CompressionConnectorCustomizer(factory.getCompression()).customize(other);
        other.addUpgradeProtocol(http2(protocol(other)));
        factory.addAdditionalConnectors(other);
      }
      if (!others.isEmpty()) {
        factory.addConnectorCustomizers(first -> shareThreads(first, others));
      }
    };
  }

  private static Connector https(StackProperties properties) {
    if (properties.tlsPort() == null) {
      return null;
    }
    Connector connector = connector(properties.tlsPort());
    connector.setScheme("https");
    connector.setSecure(true);
    protocol(connector).setSSLEnabled(true);
    SSLHostConfig host = new SSLHostConfig();
    SSLHostConfigCertificate certificate =
        new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
    certificate.setCertificateFile(properties.tlsCertificate());
    certificate.setCertificateKeyFile(properties.tlsKey());
    host.addCertificate(certificate);
    connector.addSslHostConfig(host);
    return connector;
  }

  private static Connector h2c(StackProperties properties) {
    return properties.h2cPort() == null ? null : connector(properties.h2cPort());
  }

  private static Connector connector(int port) {
    Connector connector = new Connector(TomcatServletWebServerFactory.DEFAULT_PROTOCOL);
    connector.setPort(port);
    return connector;
  }

  private static Http2Protocol http2(AbstractHttp11Protocol<?> http1) {
    Http2Protocol http2 = new Http2Protocol();
    http2.setKeepAliveTimeout(http1.getKeepAliveTimeout());
    return http2;
  }

  /** One pool for all, or virtual threads if Spring Boot has set these. */
  private static void shareThreads(Connector first, List<Connector> others) {
    AbstractHttp11Protocol<?> protocol = protocol(first);
    if (protocol.getExecutor() == null) {
      StandardThreadExecutor pool = new StandardThreadExecutor();
      pool.setNamePrefix("tomcat-handler-");
      pool.setMinSpareThreads(protocol.getMinSpareThreads());
      pool.setMaxThreads(protocol.getMaxThreads());
      protocol.setExecutor(pool);
    }
    others.forEach(other -> protocol(other).setExecutor(protocol.getExecutor()));
  }

  private static AbstractHttp11Protocol<?> protocol(Connector connector) {
    return (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
  }
}
