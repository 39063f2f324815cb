import { hash } from 'node:crypto';
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
