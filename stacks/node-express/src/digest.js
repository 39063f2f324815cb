import { hash } from 'node:crypto';

const MAX_ROUNDS = 1_000_000;

/** The number of rounds that `text` asks for, or undefined if it is none. */
export function parseRounds(text) {
  if (!/^\d+$/.test(text)) return undefined;
  const rounds = Number(text);
  return rounds >= 1 && rounds <= MAX_ROUNDS ? rounds : undefined;
}

/** SHA-256 of `data`, then of the digest, `rounds` times in all; base64. */
export function digest(data, rounds) {
  let result = data;
  for (let round = 0; round < rounds; round++) {
    result = hash('sha256', result, 'buffer');
  }
  return result.toString('base64');
}
