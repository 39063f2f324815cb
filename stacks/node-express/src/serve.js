import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createApp } from './app.js';

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
  const { host, port, tls } = settings;
  const servers = [];

  function listen(server, port) {
    server.listen({ host, port, backlog: LISTEN_BACKLOG });
    servers.push(server);
  }

  listen(http.createServer(TIMEOUTS, app.handle), port);
  if (tls) {
    const pair = { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
    listen(https.createServer({ ...TIMEOUTS, ...pair }, app.handle), tls.port);
  }

  let stopping = false;
  async function stop() {
    if (stopping) return;
    stopping = true;
    setTimeout(() => {
      for (const server of servers) server.closeAllConnections();
    }, SHUTDOWN_GRACE_MS).unref();
    setTimeout(() => process.exit(), SHUTDOWN_LIMIT_MS).unref();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    await app.close();
    process.exit();
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
