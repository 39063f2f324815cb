import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type Settings, settings } from '../settings.js';

// About a millisecond of work, after which other requests get their turn.
const ROUNDS_PER_TURN = 1000;

@Injectable()
export class HashService {
  constructor(@Inject(settings.KEY) private readonly config: Settings) {}

  /** SHA-256 of the file, then of the digest, `rounds` times in all; base64. */
  async digest(rounds: number): Promise<string> {
    let result = await readFile(this.config.blobPath!);
    for (let round = 1; round <= rounds; round++) {
      result = hash('sha256', result, 'buffer');
      if (round % ROUNDS_PER_TURN === 0) await setImmediate();
    }
    return result.toString('base64');
  }
}
