const { env } = process;

const cpus = positiveInteger("CPUS", 1);

export const settings = {
  host: env.HOST ?? "127.0.0.1",
  port: positiveInteger("PORT", 8080),
  tls: env.TLS_PORT
    ? {
        port: positiveInteger("TLS_PORT"),
        certFile: env.TLS_CERT ?? "",
        keyFile: env.TLS_KEY ?? "",
      }
    : undefined,
  h2cPort: env.H2C_PORT ? positiveInteger("H2C_PORT") : undefined,
  processes: Math.min(cpus, positiveInteger("MAX_PROCESSES", cpus)),
  poolSize: positiveInteger("POOL_SIZE", 16),
  databaseUrl: env.DATABASE_URL,
  upstreamUrl: env.UPSTREAM_URL,
  blobPath: env.BLOB_PATH ?? "blob.bin",
  staticDir: env.STATIC_DIR ?? "static",
};

export type Settings = typeof settings;

function positiveInteger(name: string, fallback?: number): number {
  const value = Number(env[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} is not a positive integer: ${env[name]}`);
  }
  return value;
}
