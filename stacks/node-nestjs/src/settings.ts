import { type ConfigType, registerAs } from '@nestjs/config';

export const settings = registerAs('settings', () => {
  const cpus = positiveInteger('CPUS', 1);
  return {
    host: process.env.HOST ?? '127.0.0.1',
    port: positiveInteger('PORT', 8080),
    tls: process.env.TLS_PORT
      ? {
          port: positiveInteger('TLS_PORT'),
          certFile: process.env.TLS_CERT ?? '',
          keyFile: process.env.TLS_KEY ?? '',
        }
      : undefined,
    h2cPort: process.env.H2C_PORT ? positiveInteger('H2C_PORT') : undefined,
    processes: Math.min(cpus, positiveInteger('MAX_PROCESSES', cpus)),
    poolSize: positiveInteger('POOL_SIZE', 16),
    databaseUrl: process.env.DATABASE_URL,
    upstreamUrl: process.env.UPSTREAM_URL,
    blobPath: process.env.BLOB_PATH,
    staticDir: process.env.STATIC_DIR,
  };
});

export type Settings = ConfigType<typeof settings>;

function positiveInteger(name: string, fallback?: number): number {
  const value = Number(process.env[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} is not a positive integer: ${process.env[name]}`);
  }
  return value;
}
