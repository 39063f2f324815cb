import { hash } from 'node:crypto';

/** SHA-256 of `data`, then of the digest, `rounds` times in all; base64. */
export function digest(data, rounds) {
  let result = data;
  for (let round = 0; round < rounds; round++) {
    result = hash('sha256', result, 'buffer');
  }
  return result.toString('base64');
}
