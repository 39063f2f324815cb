const { env } = Deno;

// Each thread of deno serve --parallel runs this module and has a pool of its own.
const threads = positiveInteger("DENO_JOBS", 1);

export const settings = {
  host: env.get("HOST") ?? "127.0.0.1",
  tls: env.has("TLS_PORT")
    ? {
      port: positiveInteger("TLS_PORT"),
      certFile: env.get("TLS_CERT") ?? "",
      keyFile: env.get("TLS_KEY") ?? "",
    }
    : undefined,
  h2cPort: env.has("H2C_PORT") ? positiveInteger("H2C_PORT") : undefined,
  poolSize: Math.max(1, Math.floor(positiveInteger("POOL_SIZE", 16) / threads)),
  databaseUrl: env.get("DATABASE_URL"),
  upstreamUrl: env.get("UPSTREAM_URL"),
  blobPath: env.get("BLOB_PATH") ?? "blob.bin",
  staticDir: env.get("STATIC_DIR") ?? "static",
};

export type Settings = typeof settings;

function positiveInteger(name: string, fallback?: number): number {
  const value = Number(env.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} is not a positive integer: ${env.get(name)}`);
  }
  return value;
}
