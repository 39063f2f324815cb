import { readFileSync } from 'node:fs';
import { createSecureServer, createServer } from 'node:http2';

/**
 * Serves HTTP/2 on the ports that the settings have for it: over TLS, where a client may choose HTTP/1.1, and without
 * TLS (h2c). Returns a function that lets open requests finish for `graceMs` and closes the connections.
 */
export function serveHttp2({ host, tls, h2cPort }, { backlog, graceMs, ...timeouts }, handle) {
  const servers = [];
  const sessions = new Set();
  const sockets = new Set();

  function listen(server, port) {
    server.on('connection', (socket) => {
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
      { allowHTTP1: true, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
      handle,
    );
    // For HTTP/1.1; it has no option for them.
    listen(Object.assign(server, timeouts), tls.port);
  }
  if (h2cPort) listen(createServer(handle), h2cPort);

  return async function close() {
    const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const session of sessions) session.close();
    // These servers have no closeAllConnections. A connection without a request yet is not idle for them.
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs).unref();
    await Promise.all(closed);
  };
}
