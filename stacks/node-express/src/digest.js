import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

const MAX_ROUNDS = 1_000_000;
// About a millisecond of work, after which other requests get their turn.
const ROUNDS_PER_TURN = 1000;

/** The number of rounds in `text`, or undefined if there is none or it is out of range. */
export function parseRounds(text) {
  if (!/^\d+$/.test(text)) return undefined;
  const rounds = Number(text);
  return rounds >= 1 && rounds <= MAX_ROUNDS ? rounds : undefined;
}

/** SHA-256 of `data`, then of the digest, `rounds` times in all; base64. */
export async function digest(data, rounds) {
  let result = data;
  for (let round = 1; round <= rounds; round++) {
    result = hash('sha256', result, 'buffer');
    if (round % ROUNDS_PER_TURN === 0) await setImmediate();
  }
  return result.toString('base64');
}
