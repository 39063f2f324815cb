import serveStatic from '@fastify/static';
import fastify from 'fastify';
import { createDatabase } from './database.js';
import { answerError } from './errors.js';
import { createUpstream } from './upstream.js';
import { compileValidator } from './validation.js';
import { fortunes } from './routes/fortunes.js';
import { hash } from './routes/hash.js';
import { items } from './routes/items.js';
import { payload } from './routes/payload.js';
import { people } from './routes/people.js';
import { plaintext } from './routes/plaintext.js';
import { products } from './routes/products.js';
import { proxy } from './routes/proxy.js';
import { techempower } from './routes/techempower.js';
import { upload } from './routes/upload.js';
import { users } from './routes/users.js';

// Node's own. Fastify turns it off unless it is asked for.
const REQUEST_TIMEOUT_MS = 300_000;
// Longer than clients and load balancers usually keep a connection.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
export const TIMEOUTS = {
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  headersTimeout: KEEP_ALIVE_TIMEOUT_MS + 1000,
};

/** The application, with what it holds open until it is closed. */
export function createApp({ databaseUrl, poolSize, upstreamUrl, blobPath, staticDir }) {
  const app = fastify({
    logger: false,
    keepAliveTimeout: TIMEOUTS.keepAliveTimeout,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: TIMEOUTS.headersTimeout },
  });
  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler(answerError);

  const database = createDatabase(databaseUrl, poolSize);
  const upstream = createUpstream(upstreamUrl);
  app.addHook('onClose', () => Promise.all([database.close(), upstream.close()]));

  app.register(plaintext);
  app.register(people);
  app.register(serveStatic, { root: staticDir, prefix: '/static/' });
  app.register(products);
  app.register(upload);
  app.register(payload);
  app.register(hash, { blobPath });
  app.register(users, { database });
  app.register(fortunes, { database });
  app.register(items, { database });
  app.register(proxy, { upstream });
  app.register(techempower, { database, prefix: '/techempower' });
  return app;
}
