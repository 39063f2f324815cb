package deadheat.spring;

import java.net.http.HttpClient;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

/** The client of the upstream. */
@Configuration(proxyBeanMethods = false)
class UpstreamConfiguration {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

  /** It keeps its connections, and opens as many as there are requests under way. */
  @Bean
  RestClient upstream(RestClient.Builder builder) {
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
    JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(client);
    requests.setReadTimeout(READ_TIMEOUT);
    return builder.requestFactory(requests).build();
  }
}
