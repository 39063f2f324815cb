import { createApp } from "./app.ts";
import { serveMore } from "./listeners.ts";
import { settings } from "./settings.ts";

const SHUTDOWN_LIMIT_MS = 900;

const { app, close } = createApp(settings);
const servers = serveMore(settings, app.fetch);

/** deno serve itself lets requests in flight finish; it exits when nothing else is open. This limits the wait. */
async function stop(): Promise<void> {
  Deno.removeSignalListener("SIGTERM", stop);
  Deno.removeSignalListener("SIGINT", stop);
  Deno.unrefTimer(setTimeout(() => Deno.exit(), SHUTDOWN_LIMIT_MS));
  await Promise.all(servers.map((server) => server.shutdown()));
  await close();
}

Deno.addSignalListener("SIGTERM", stop);
Deno.addSignalListener("SIGINT", stop);

export default app satisfies Deno.ServeDefaultExport;
