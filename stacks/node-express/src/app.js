import { join } from 'node:path';
import compression from 'compression';
import express from 'express';
import { jsonBody } from './body.js';
import { createDatabase } from './database.js';
import { answerErrors, notFound } from './errors.js';
import { createUpstream } from './upstream.js';
import { bytes } from './routes/bytes.js';
import { fortunes } from './routes/fortunes.js';
import { items } from './routes/items.js';
import { payload, pingPong } from './routes/payload.js';
import { greetPerson, listPeople } from './routes/people.js';
import { plaintext } from './routes/plaintext.js';
import { products } from './routes/products.js';
import { proxy } from './routes/proxy.js';
import { upload } from './routes/upload.js';
import { users } from './routes/users.js';

/** The application: a handler of requests, and what it holds open. */
export function createApp({ databaseUrl, poolSize, upstreamUrl, blobPath, staticDir }) {
  const database = createDatabase(databaseUrl, poolSize);
  const upstream = createUpstream(upstreamUrl);

  const app = express();
  app.disable('x-powered-by');
  // Nobody caches these answers, and an ETag is a hash of the whole body.
  app.disable('etag');
  app.set('views', join(import.meta.dirname, '../views'));
  app.set('view engine', 'ejs');

  app.get('/plaintext', plaintext);
  app.get('/json', listPeople);
  app.post('/json', jsonBody, greetPerson);
  app.use('/static', express.static(staticDir));
  app.get('/products', compression(), products);
  app.post('/upload', upload);
  app.get('/payload', payload);
  app.get('/ping-pong', pingPong);
  app.get('/bytes', bytes(blobPath));
  app.get('/users', users(database));
  app.get('/fortunes', fortunes(database));
  app.use('/items', items(database));
  app.get('/proxy', proxy(upstream));
  app.use(notFound);
  app.use(answerErrors);

  return {
    handle: app,
    close: () => Promise.all([database.close(), upstream.close()]),
  };
}
