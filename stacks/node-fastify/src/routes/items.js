import { HttpError } from '../http-error.js';

const MAX_ID = 2 ** 31 - 1;

const item = {
  type: 'object',
  required: ['id', 'name', 'price'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, price: { type: 'integer' } },
};
const draft = {
  type: 'object',
  required: ['name', 'price'],
  properties: {
    // PostgreSQL's text holds any character but NUL.
    name: { type: 'string', minLength: 1, maxLength: 100, pattern: '^[^\\0]*$' },
    price: { type: 'integer', minimum: 0, maximum: 1_000_000 },
  },
};
const page = {
  type: 'object',
  properties: {
    after: { type: 'integer', minimum: 0, maximum: MAX_ID, default: 0 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
};
const params = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer', minimum: 1, maximum: MAX_ID } },
};

const LIST = { querystring: page, response: { 200: { type: 'array', items: item } } };
const CREATE = { body: draft, response: { 201: item } };
const READ = { params, response: { 200: item } };
const REPLACE = { params, body: draft, response: { 200: item } };
const DELETE = { params };

export async function items(app, { database }) {
  app.get('/items', { schema: LIST }, ({ query }) => database.itemsAfter(query.after, query.limit));

  app.post('/items', { schema: CREATE }, async (request, reply) => {
    const item = await database.createItem(request.body);
    return reply.code(201).header('Location', `/items/${item.id}`).send(item);
  });

  app.get('/items/:id', { schema: READ }, async (request) =>
    existing(await database.item(request.params.id)),
  );

  app.put('/items/:id', { schema: REPLACE }, async (request) =>
    existing(await database.replaceItem(request.params.id, request.body)),
  );

  app.delete('/items/:id', { schema: DELETE }, async (request, reply) => {
    if (!(await database.deleteItem(request.params.id))) throw new HttpError(404);
    return reply.code(204).send();
  });
}

/** The item, if it was found. */
function existing(item) {
  if (item === undefined) throw new HttpError(404);
  return item;
}
