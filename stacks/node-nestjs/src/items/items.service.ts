import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Item, ItemDraft, ItemPage } from './item.js';

// Named, so that each connection prepares it once.
const FIND = {
  name: 'find-item',
  text: 'select id, name, price from items where id = $1',
};
const LIST = {
  name: 'list-items',
  text: 'select id, name, price from items where id > $1 order by id limit $2',
};
const CREATE = {
  name: 'create-item',
  text: 'insert into items (name, price) values ($1, $2) returning id, name, price',
};
const REPLACE = {
  name: 'replace-item',
  text: 'update items set name = $2, price = $3 where id = $1 returning id, name, price',
};
const REMOVE = {
  name: 'remove-item',
  text: 'delete from items where id = $1',
};

@Injectable()
export class ItemsService {
  constructor(private readonly pool: Pool) {}

  async list({ after, limit }: ItemPage): Promise<Item[]> {
    const { rows } = await this.pool.query<Item>({
      ...LIST,
      values: [after, limit],
    });
    return rows;
  }

  async create({ name, price }: ItemDraft): Promise<Item> {
    const { rows } = await this.pool.query<Item>({
      ...CREATE,
      values: [name, price],
    });
    return rows[0];
  }

  /** The item with this id, if there is one. */
  async find(id: number): Promise<Item | undefined> {
    const { rows } = await this.pool.query<Item>({ ...FIND, values: [id] });
    return rows[0];
  }

  /** The item as it is now, if there is one with this id. */
  async replace(
    id: number,
    { name, price }: ItemDraft,
  ): Promise<Item | undefined> {
    const { rows } = await this.pool.query<Item>({
      ...REPLACE,
      values: [id, name, price],
    });
    return rows[0];
  }

  /** Whether there was an item with this id. */
  async remove(id: number): Promise<boolean> {
    const { rowCount } = await this.pool.query({ ...REMOVE, values: [id] });
    return rowCount === 1;
  }
}
