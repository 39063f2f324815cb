import { createApp, TIMEOUTS } from './app.js';
import { serveHttp2 } from './http2.js';

const LISTEN_BACKLOG = 4096;
const SHUTDOWN_GRACE_MS = 600;
const SHUTDOWN_LIMIT_MS = 900;

/** Answers until SIGTERM, then lets requests in flight finish for a short while. */
export async function serve(settings) {
  const app = createApp(settings);
  let closeHttp2;
  app.addHook('preClose', () => closeHttp2?.());

  let stopping = false;
  async function stop() {
    if (stopping) return;
    stopping = true;
    setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_GRACE_MS).unref();
    setTimeout(() => process.exit(), SHUTDOWN_LIMIT_MS).unref();
    await app.close();
    process.exit();
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  await app.listen({ host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG });
  closeHttp2 = serveHttp2(
    settings,
    { backlog: LISTEN_BACKLOG, graceMs: SHUTDOWN_GRACE_MS, ...TIMEOUTS },
    app.routing,
  );
}
