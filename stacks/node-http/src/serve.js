import { createServer } from 'node:http';
import { createApp } from './app.js';
import { serveHttp2 } from './http2.js';

const LISTEN_BACKLOG = 4096;
// Longer than clients and load balancers usually keep a connection; Node's own is 5 s.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUTS = {
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  headersTimeout: KEEP_ALIVE_TIMEOUT_MS + 1000,
};
const SHUTDOWN_GRACE_MS = 600;
const SHUTDOWN_LIMIT_MS = 900;

/** Answers until SIGTERM, then lets requests in flight finish for a short while. */
export function serve(settings) {
  const app = createApp(settings);
  const server = createServer(TIMEOUTS, app.handle);
  server.listen({ host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG });
  const closeHttp2 = serveHttp2(
    settings,
    { backlog: LISTEN_BACKLOG, graceMs: SHUTDOWN_GRACE_MS, ...TIMEOUTS },
    app.handle,
  );

  let stopping = false;
  async function stop() {
    if (stopping) return;
    stopping = true;
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_GRACE_MS).unref();
    setTimeout(() => process.exit(), SHUTDOWN_LIMIT_MS).unref();
    await Promise.all([new Promise((resolve) => server.close(resolve)), closeHttp2()]);
    await app.close();
    process.exit();
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
