import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";

// A few milliseconds of work at most, after which other requests get their turn.
const ROUNDS_PER_TURN = 1000;

/** SHA-256 of `data`, then of the digest, `rounds` times in all; base64. */
export async function digest(
  data: Uint8Array,
  rounds: number,
): Promise<string> {
  let result = data;
  for (let round = 1; round <= rounds; round++) {
    result = hash("sha256", result, "buffer");
    if (round % ROUNDS_PER_TURN === 0) await setImmediate();
  }
  return result.toBase64();
}
