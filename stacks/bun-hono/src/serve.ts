import { createApp } from "./app.ts";
import type { Settings } from "./settings.ts";

// Longer than clients and load balancers usually keep a connection.
const IDLE_TIMEOUT_S = 65;
const SHUTDOWN_LIMIT_MS = 900;

/** Answers until SIGTERM, then lets requests in flight finish for a short while. */
export function serve({
  host,
  port,
  tls,
  h2cPort,
  ...settings
}: Settings): void {
  const { app, close } = createApp(settings);
  const options = {
    hostname: host,
    reusePort: true,
    idleTimeout: IDLE_TIMEOUT_S,
    fetch: app.fetch,
  };
  const servers = [Bun.serve({ ...options, port })];
  if (tls) {
    const pair = { cert: Bun.file(tls.certFile), key: Bun.file(tls.keyFile) };
    // HTTP/1.1 with a client that offers only that.
    servers.push(
      Bun.serve({ ...options, port: tls.port, tls: pair, http2: true }),
    );
  }
  if (h2cPort) {
    servers.push(Bun.serve({ ...options, port: h2cPort, http2: true }));
  }

  let stopping = false;
  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(), SHUTDOWN_LIMIT_MS);
    await Promise.all(servers.map((server) => server.stop()));
    await close();
    process.exit();
  }

  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // The process that started this worker, if there is one, waits for the first message and may die before it.
  process.on("disconnect", stop);
  process.send?.("listening");
}
