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
    close: () => sql.close(),
  };
}
