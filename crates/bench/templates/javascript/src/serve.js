import http from 'node:http';
import { route } from './routes.js';

export function serve() {
  const { HOST: host, PORT: port } = process.env;
  const server = http.createServer(route);
  server.listen({ host, port: Number(port), backlog: 1024 });
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
    // Requests in flight may end, but nobody waits long for them.
    setTimeout(() => process.exit(0), 500).unref();
  });
}
