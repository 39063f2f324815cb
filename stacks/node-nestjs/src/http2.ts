import { readFileSync } from 'node:fs';
import {
  type Http2SecureServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  createSecureServer,
  createServer,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Settings } from './settings.js';

export type Handler = (
  request: Http2ServerRequest,
  response: Http2ServerResponse,
) => void;

interface Options {
  backlog: number;
  graceMs: number;
  keepAliveTimeout: number;
  headersTimeout: number;
}

/**
 * Serves HTTP/2 on the ports that the settings have for it: over TLS, where a client may choose HTTP/1.1, and without
 * TLS (h2c). Returns a function that lets open requests finish for `graceMs` and closes the connections.
 */
export function serveHttp2(
  { host, tls, h2cPort }: Settings,
  { backlog, graceMs, ...timeouts }: Options,
  handle: Handler,
): () => Promise<void> {
  const servers: (Http2Server | Http2SecureServer)[] = [];
  const sessions = new Set<{ close(): void }>();
  const sockets = new Set<Socket>();

  function listen(server: Http2Server | Http2SecureServer, port: number): void {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    server.on('session', (session) => {
      sessions.add(session);
      session.on('close', () => sessions.delete(session));
    });
    server.listen({ host, port, backlog });
    servers.push(server);
  }

  if (tls) {
    const server = createSecureServer(
      {
        allowHTTP1: true,
        cert: readFileSync(tls.certFile),
        key: readFileSync(tls.keyFile),
      },
      handle,
    );
    // For HTTP/1.1; it has no option for them.
    listen(Object.assign(server, timeouts), tls.port);
  }
  if (h2cPort) listen(createServer(handle), h2cPort);

  return async function close(): Promise<void> {
    const closed = servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    for (const session of sessions) session.close();
    // These servers have no closeAllConnections. A connection without a request yet is not idle for them.
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs).unref();
    await Promise.all(closed);
  };
}
