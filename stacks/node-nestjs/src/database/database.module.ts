import { Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { type Settings, settings } from '../settings.js';

// Counts the wait for a connection that is in use, too.
const CONNECTION_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Provides a pool that connects on first use, so that the server starts without a database. */
@Module({
  providers: [
    { provide: Pool, inject: [settings.KEY], useFactory: createPool },
  ],
  exports: [Pool],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(private readonly pool: Pool) {}

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

function createPool({ databaseUrl, poolSize }: Settings): Pool {
  const logger = new Logger(DatabaseModule.name);
  const pool = new Pool({
    connectionString: databaseUrl,
    max: poolSize,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The pool keeps its connections. By default, pg closes one after ten idle seconds.
    idleTimeoutMillis: 0,
  });
  // An idle connection that breaks has left the pool already; unheard, the event would end the process.
  pool.on('error', ({ message }) =>
    logger.error(`lost a database connection: ${message}`),
  );
  return pool;
}
