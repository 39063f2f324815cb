import { SQL } from "bun";

const CONNECTION_TIMEOUT_S = 10;
const STATEMENT_TIMEOUT_MS = 10_000;

interface User {
  id: number;
  email: string;
}

export interface Fortune {
  id: number;
  message: string;
}

interface ItemDraft {
  name: string;
  price: number;
}

interface Item extends ItemDraft {
  id: number;
}

export type Database = ReturnType<typeof createDatabase>;

/** A pool that connects on first use. */
export function createDatabase(url: string, poolSize: number) {
  const sql = new SQL({
    url,
    adapter: "postgres",
    max: poolSize,
    connectionTimeout: CONNECTION_TIMEOUT_S,
    connection: { statement_timeout: STATEMENT_TIMEOUT_MS },
  });

  return {
    // Bun prepares a statement once per connection, and knows it again by its text.
    firstUsers: (): Promise<User[]> =>
      sql<User[]>`select id, email from users order by id limit 10`,
    allFortunes: (): Promise<Fortune[]> =>
      sql<Fortune[]>`select id, message from fortune`,
    /** The item with this id, if there is one. */
    item: async (id: number): Promise<Item | undefined> => {
      const rows = await sql<Item[]>`
        select id, name, price from items where id = ${id}`;
      return rows[0];
    },
    itemsAfter: (id: number, limit: number): Promise<Item[]> =>
      sql<Item[]>`
        select id, name, price from items
        where id > ${id} order by id limit ${limit}`,
    createItem: async ({ name, price }: ItemDraft): Promise<Item> => {
      const [item] = await sql<[Item]>`
        insert into items (name, price) values (${name}, ${price})
        returning id, name, price`;
      return item;
    },
    /** The item as it is now, if there is one with this id. */
    replaceItem: async (
      id: number,
      { name, price }: ItemDraft,
    ): Promise<Item | undefined> => {
      const rows = await sql<Item[]>`
        update items set name = ${name}, price = ${price}
        where id = ${id} returning id, name, price`;
      return rows[0];
    },
    /** Whether there was an item with this id. */
    deleteItem: async (id: number): Promise<boolean> => {
      const { count } = await sql`delete from items where id = ${id}`;
      return count === 1;
    },
    close: () => sql.close(),
  };
}
