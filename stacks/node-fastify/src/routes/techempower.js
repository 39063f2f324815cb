import { fortunes } from './fortunes.js';
import { plaintext } from './plaintext.js';
import { randomId, randomIds, randomWorlds } from '../worlds.js';

const MAX_COUNT = 500;

const message = { type: 'object', properties: { message: { type: 'string' } } };
const world = {
  type: 'object',
  required: ['id', 'randomNumber'],
  properties: { id: { type: 'integer' }, randomNumber: { type: 'integer' } },
};
const worlds = { type: 'array', items: world };

const JSON_ROUTE = { response: { 200: message } };
const ONE = { response: { 200: world } };
const SEVERAL = { response: { 200: worlds } };

/** The tests of TechEmpower's Framework Benchmarks. */
export async function techempower(app, { database }) {
  // These tests ask for a Server header.
  app.addHook('onRequest', async (request, reply) => {
    reply.header('Server', 'Fastify');
  });

  app.register(plaintext);
  app.register(fortunes, { database });

  app.get('/json', { schema: JSON_ROUTE }, async () => ({ message: 'Hello, World!' }));

  app.get('/db', { schema: ONE }, async () => {
    const [found] = await database.worlds([randomId()]);
    return found;
  });

  app.get('/queries', { schema: SEVERAL }, ({ query }) =>
    database.worlds(randomIds(countOf(query.queries))),
  );

  app.get('/updates', { schema: SEVERAL }, async ({ query }) => {
    const found = await database.worlds(randomIds(countOf(query.queries)));
    // PostgreSQL locks the rows in this order, so that two requests never wait for each other.
    found.sort((a, b) => a.id - b.id);
    for (const one of found) one.randomNumber = randomId();
    await database.updateWorlds(found);
    return found;
  });

  let cached;
  app.get('/cached-queries', { schema: SEVERAL }, async ({ query }) => {
    cached ??= await database.allWorlds();
    return randomWorlds(cached, countOf(query.count));
  });
}

/** The number that a request asks for: 1 to 500, and 1 for anything that is no number. */
function countOf(text) {
  const count = Number.parseInt(text, 10) || 1;
  return Math.min(Math.max(count, 1), MAX_COUNT);
}
