package deadheat.spring;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.server.ResponseStatusException;

/** A slow upstream, relayed. */
@RestController
class ProxyController {
  private static final Logger LOG = LoggerFactory.getLogger(ProxyController.class);

  private final RestClient upstream;
  private final String url;

  ProxyController(RestClient.Builder builder, StackProperties properties) {
    this.upstream = builder.build();
    this.url = properties.upstreamUrl();
  }

  @GetMapping("/proxy")
  ResponseEntity<byte[]> relay() {
    if (url.isEmpty()) {
      throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, "no UPSTREAM_URL");
    }
    try {
      ResponseEntity<byte[]> answer = upstream.get().uri(url).retrieve().toEntity(byte[].class);
      MediaType contentType = answer.getHeaders().getContentType();
      return ResponseEntity.ok()
          .contentType(contentType == null ? MediaType.TEXT_PLAIN : contentType)
          .body(answer.getBody());
    } catch (RestClientException e) {
      LOG.warn("the upstream failed", e);
      throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, "the upstream failed", e);
    }
  }
}
