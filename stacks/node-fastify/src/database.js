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
    close: () => pool.end(),
  };
}
