import { createRouter } from './router.js';
import { createDatabase } from './database.js';
import { createUpstream } from './upstream.js';
import { plaintext } from './routes/plaintext.js';
import { listPeople, greetPerson } from './routes/people.js';
import { payload, pingPong } from './routes/payload.js';
import { bytes } from './routes/bytes.js';
import { users } from './routes/users.js';
import { fortunes } from './routes/fortunes.js';
import { items } from './routes/items.js';
import { products } from './routes/products.js';
import { proxy } from './routes/proxy.js';
import { staticFiles } from './routes/static.js';
import { upload } from './routes/upload.js';

/** The application: a handler of requests, and what it holds open. */
export function createApp({ databaseUrl, poolSize, upstreamUrl, blobPath, staticDir }) {
  const database = createDatabase(databaseUrl, poolSize);
  const upstream = createUpstream(upstreamUrl);
  const { list, create, read, replace, remove } = items(database);

  const handle = createRouter({
    '/plaintext': { GET: plaintext },
    '/json': { GET: listPeople, POST: greetPerson },
    '/static/:id': { GET: staticFiles(staticDir) },
    '/products': { GET: products },
    '/upload': { POST: upload },
    '/payload': { GET: payload },
    '/ping-pong': { GET: pingPong },
    '/bytes': { GET: bytes(blobPath) },
    '/users': { GET: users(database) },
    '/fortunes': { GET: fortunes(database) },
    '/items': { GET: list, POST: create },
    '/items/:id': { GET: read, PUT: replace, DELETE: remove },
    '/proxy': { GET: proxy(upstream) },
  });

  return {
    handle,
    close: () => Promise.all([database.close(), upstream.close()]),
  };
}
