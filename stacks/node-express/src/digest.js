import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

// About a millisecond of work, after which other requests get their turn.
const ROUNDS_PER_TURN = 1000;

/** SHA-256 of `data`, then of the digest, `rounds` times in all; base64. */
export async function digest(data, rounds) {
  let result = data;
  for (let round = 1; round <= rounds; round++) {
    result = hash('sha256', result, 'buffer');
    if (round % ROUNDS_PER_TURN === 0) await setImmediate();
  }
  return result.toString('base64');
}

/** SHA-256 of what comes from a stream, piece by piece; base64. Undefined if that is more than `limit` bytes. */
export async function digestOfStream(stream, limit) {
  const sha256 = createHash('sha256');
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    // What is too long is read to its end, because the next request follows it.
    if (length <= limit) sha256.update(chunk);
  }
  return length <= limit ? sha256.digest('base64') : undefined;
}
