import compress from '@fastify/compress';
import { productsFrom } from '../products.js';

const MAX_FROM = 1_000_000;

const product = {
  type: 'object',
  required: ['id', 'name', 'category', 'price', 'stock'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    category: { type: 'string' },
    price: { type: 'integer' },
    stock: { type: 'integer' },
  },
};

const LIST = {
  querystring: {
    type: 'object',
    required: ['from'],
    properties: { from: { type: 'integer', minimum: 1, maximum: MAX_FROM } },
  },
  response: { 200: { type: 'array', items: product } },
};

export async function products(app) {
  // In this plugin's scope, so that no other route is compressed.
  await app.register(compress);
  app.get('/products', { schema: LIST }, async (request, reply) => {
    // The plugin says so of compressed answers alone.
    reply.header('Vary', 'Accept-Encoding');
    return productsFrom(request.query.from);
  });
}
