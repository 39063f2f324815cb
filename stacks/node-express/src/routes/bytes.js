import { readFile } from 'node:fs/promises';
import { digest, parseRounds } from '../digest.js';
import { HttpError } from '../http-error.js';

export function bytes(blobPath) {
  return async (request, response) => {
    const rounds = parseRounds(request.query.rounds);
    if (rounds === undefined) throw new HttpError(400, 'rounds must be a number from 1 to 1000000');
    response.type('text/plain').send(await digest(await readFile(blobPath), rounds));
  };
}
