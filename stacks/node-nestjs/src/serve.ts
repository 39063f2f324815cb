import { join } from 'node:path';
import compress from '@fastify/compress';
import { ShutdownSignal, StandardSchemaValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  FastifyAdapter,
  type NestFastifyApplication,
} from '@nestjs/platform-fastify';
import ejs from 'ejs';
import { AppModule } from './app.module.js';
import { GoneClientFilter } from './gone-client.filter.js';
import { type Handler, serveHttp2 } from './http2.js';
import { settings } from './settings.js';

const VIEWS = join(import.meta.dirname, '../views');
const LISTEN_BACKLOG = 4096;
// Node's own. Fastify turns it off unless it is asked for.
const REQUEST_TIMEOUT_MS = 300_000;
// Longer than clients and load balancers usually keep a connection.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUTS = {
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  headersTimeout: KEEP_ALIVE_TIMEOUT_MS + 1000,
};
const SHUTDOWN_GRACE_MS = 600;
const SHUTDOWN_LIMIT_MS = 900;
const SHUTDOWN_SIGNALS = [ShutdownSignal.SIGTERM, ShutdownSignal.SIGINT];

/** Answers until SIGTERM, then lets requests in flight finish for a short while. */
export async function serve(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule,
    new FastifyAdapter({
      keepAliveTimeout: TIMEOUTS.keepAliveTimeout,
      requestTimeout: REQUEST_TIMEOUT_MS,
      http: { headersTimeout: TIMEOUTS.headersTimeout },
    }),
    {
      logger: ['fatal', 'error', 'warn'],
      // Fastify parses JSON itself. Nest's parsers would accept forms as well.
      bodyParser: false,
    },
  );
  app.useGlobalFilters(new GoneClientFilter(app.getHttpAdapter()));
  app.useGlobalPipes(new StandardSchemaValidationPipe());
  app.setViewEngine({ engine: { ejs }, root: VIEWS });
  await app.register(compress, { global: false });

  app.enableShutdownHooks(SHUTDOWN_SIGNALS, { useProcessExit: true });
  for (const signal of SHUTDOWN_SIGNALS) {
    process.once(signal, () => {
      setTimeout(() => process.exit(), SHUTDOWN_LIMIT_MS).unref();
    });
  }

  const fastify = app.getHttpAdapter().getInstance();
  // The body is handed over as the stream that it is; Nest's own parsers gather it.
  fastify.addContentTypeParser(
    'application/octet-stream',
    (_request, payload, done) => done(null, payload),
  );
  let closeHttp2: (() => Promise<void>) | undefined;
  fastify.addHook('preClose', async () => closeHttp2?.());

  const listeners = settings();
  const { host, port, staticDir } = listeners;
  if (staticDir) app.useStaticAssets({ root: staticDir, prefix: '/static/' });
  await app.listen({ host, port, backlog: LISTEN_BACKLOG });
  closeHttp2 = serveHttp2(
    listeners,
    { backlog: LISTEN_BACKLOG, graceMs: SHUTDOWN_GRACE_MS, ...TIMEOUTS },
    // Its type is that of Fastify's own server, but it answers HTTP/2 as well.
    fastify.routing as unknown as Handler,
  );
}
