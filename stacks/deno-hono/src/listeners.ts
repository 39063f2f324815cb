import type { Settings } from "./settings.ts";

/** The length of the listen backlog. */
const BACKLOG = 4096;

/**
 * Serves the ports that deno serve has no option for: HTTPS, and HTTP/2 without TLS. Deno speaks both versions of HTTP
 * on every port. Each thread listens, as on deno serve's own port.
 */
export function serveMore(
  { host, tls, h2cPort }: Settings,
  handler: Deno.ServeHandler,
): Deno.HttpServer[] {
  const options = {
    hostname: host,
    reusePort: true,
    tcpBacklog: BACKLOG,
    onListen() {},
  };
  const servers: Deno.HttpServer[] = [];
  if (tls) {
    const cert = Deno.readTextFileSync(tls.certFile);
    const key = Deno.readTextFileSync(tls.keyFile);
    servers.push(
      Deno.serve({ ...options, port: tls.port, cert, key }, handler),
    );
  }
  if (h2cPort) {
    servers.push(Deno.serve({ ...options, port: h2cPort }, handler));
  }
  return servers;
}
