import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

export interface Fortune {
  id: number;
  message: string;
}

// Named, so that each connection prepares it once.
const ALL_FORTUNES = {
  name: 'all-fortunes',
  text: 'select id, message from fortune',
};

const ADDITIONAL: Fortune = {
  id: 0,
  message: 'Additional fortune added at request time.',
};

@Injectable()
export class FortunesService {
  constructor(private readonly pool: Pool) {}

  /** The fortunes with one more, in the order of their messages. */
  async withAdditional(): Promise<Fortune[]> {
    const { rows } = await this.pool.query<Fortune>(ALL_FORTUNES);
    return [...rows, ADDITIONAL].sort(byMessage);
  }
}

function byMessage(a: Fortune, b: Fortune): number {
  if (a.message === b.message) return 0;
  return a.message < b.message ? -1 : 1;
}
