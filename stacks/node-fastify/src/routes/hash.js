import { readFile } from 'node:fs/promises';
import { digest } from '../digest.js';

const MAX_ROUNDS = 1_000_000;

const HASH = {
  querystring: {
    type: 'object',
    required: ['rounds'],
    properties: { rounds: { type: 'integer', minimum: 1, maximum: MAX_ROUNDS } },
  },
};

export async function hash(app, { blobPath }) {
  app.get('/bytes', { schema: HASH }, async (request) =>
    digest(await readFile(blobPath), request.query.rounds),
  );
}
