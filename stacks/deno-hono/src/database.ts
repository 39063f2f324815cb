import postgres from "postgres";

const CONNECT_TIMEOUT_S = 10;
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
  const sql = postgres(url, {
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    connection: { statement_timeout: STATEMENT_TIMEOUT_MS },
    // The driver would first ask for the array types, and no query here has arrays.
    fetch_types: false,
  });

  return {
    // The driver prepares a statement once per connection, and knows it again by its text.
    firstUsers: () =>
      sql<User[]>`select id, email from users order by id limit 10`,
    allFortunes: () => sql<Fortune[]>`select id, message from fortune`,
    close: () => sql.end(),
  };
}
