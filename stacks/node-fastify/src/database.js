import pg from 'pg';

// Counts the wait for a connection that is in use, too.
const CONNECTION_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 10_000;

// Named, so that each connection prepares it once.
const FIRST_USERS = {
  name: 'first-users',
  text: 'select id, email from users order by id limit 10',
};
const ALL_FORTUNES = {
  name: 'all-fortunes',
  text: 'select id, message from fortune',
};
const ITEM = {
  name: 'item',
  text: 'select id, name, price from items where id = $1',
};
const ITEMS_AFTER = {
  name: 'items-after',
  text: 'select id, name, price from items where id > $1 order by id limit $2',
};
const CREATE_ITEM = {
  name: 'create-item',
  text: 'insert into items (name, price) values ($1, $2) returning id, name, price',
};
const REPLACE_ITEM = {
  name: 'replace-item',
  text: 'update items set name = $2, price = $3 where id = $1 returning id, name, price',
};
const DELETE_ITEM = {
  name: 'delete-item',
  text: 'delete from items where id = $1',
};
const WORLD = {
  name: 'world',
  text: 'select id, randomnumber as "randomNumber" from world where id = $1',
};
const ALL_WORLDS = {
  name: 'all-worlds',
  text: 'select id, randomnumber as "randomNumber" from world',
};
const UPDATE_WORLDS = {
  name: 'update-worlds',
  text:
    'update world set randomnumber = new.number ' +
    'from unnest($1::integer[], $2::integer[]) as new(id, number) where world.id = new.id',
};

/** A pool that connects on first use, so that the server starts without a database. */
export function createDatabase(url, poolSize) {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The pool keeps its connections. By default, pg closes one after ten idle seconds.
    idleTimeoutMillis: 0,
  });
  // An idle connection that breaks has left the pool already; unheard, the event would end the process.
  pool.on('error', ({ message }) => console.error('lost a database connection:', message));

  return {
    async firstUsers() {
      const { rows } = await pool.query(FIRST_USERS);
      return rows;
    },
    async allFortunes() {
      const { rows } = await pool.query(ALL_FORTUNES);
      return rows;
    },
    /** The item with this id, if there is one. */
    async item(id) {
      const { rows } = await pool.query({ ...ITEM, values: [id] });
      return rows[0];
    },
    async itemsAfter(id, limit) {
      const { rows } = await pool.query({ ...ITEMS_AFTER, values: [id, limit] });
      return rows;
    },
    async createItem({ name, price }) {
      const { rows } = await pool.query({ ...CREATE_ITEM, values: [name, price] });
      return rows[0];
    },
    /** The item as it is now, if there is one with this id. */
    async replaceItem(id, { name, price }) {
      const { rows } = await pool.query({ ...REPLACE_ITEM, values: [id, name, price] });
      return rows[0];
    },
    /** Whether there was an item with this id. */
    async deleteItem(id) {
      const { rowCount } = await pool.query({ ...DELETE_ITEM, values: [id] });
      return rowCount === 1;
    },
    /** The worlds with these ids, each by a statement of its own. */
    async worlds(ids) {
      const read = async (id) => (await pool.query({ ...WORLD, values: [id] })).rows[0];
      return Promise.all(ids.map(read));
    },
    async allWorlds() {
      const { rows } = await pool.query(ALL_WORLDS);
      return rows;
    },
    async updateWorlds(worlds) {
      const ids = worlds.map(({ id }) => id);
      const numbers = worlds.map(({ randomNumber }) => randomNumber);
      await pool.query({ ...UPDATE_WORLDS, values: [ids, numbers] });
    },
    close: () => pool.end(),
  };
}
