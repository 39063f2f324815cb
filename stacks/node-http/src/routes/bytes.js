import { readFile } from 'node:fs/promises';
import { digest, parseRounds } from '../digest.js';
import { HttpError } from '../http-error.js';
import { sendText } from '../respond.js';

export function bytes(blobPath) {
  return async (request, response, query) => {
    const rounds = parseRounds(new URLSearchParams(query).get('rounds'));
    if (rounds === undefined) throw new HttpError(400, 'rounds must be a number from 1 to 1000000');
    sendText(response, await digest(await readFile(blobPath), rounds));
  };
}
