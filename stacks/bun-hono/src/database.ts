import { SQL } from "bun";

// Counts the wait for a connection that is in use, too.
const CONNECTION_TIMEOUT_S = 10;

interface User {
  id: number;
  email: string;
}

export type Database = ReturnType<typeof createDatabase>;

/** A pool that connects on first use, so that the server starts without a database. */
export function createDatabase(url: string | undefined, poolSize: number) {
  const sql = new SQL({
    url,
    adapter: "postgres",
    max: poolSize,
    connectionTimeout: CONNECTION_TIMEOUT_S,
  });

  return {
    // Bun prepares a statement once per connection, and knows it again by its text.
    firstUsers: (): Promise<User[]> =>
      sql<User[]>`select id, email from users order by id limit 10`,
    close: () => sql.close(),
  };
}
