import { readFile } from 'node:fs/promises';
import { digest } from '../digest.js';
import { HttpError } from '../http-error.js';
import { parseInteger } from '../integers.js';

const MAX_ROUNDS = 1_000_000;

export function bytes(blobPath) {
  return async (request, response) => {
    const rounds = parseInteger(request.query.rounds, 1, MAX_ROUNDS);
    if (rounds === undefined) {
      throw new HttpError(400, `rounds must be a number from 1 to ${MAX_ROUNDS}`);
    }
    response.type('text/plain').send(await digest(await readFile(blobPath), rounds));
  };
}
