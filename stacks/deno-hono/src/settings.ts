const { env } = Deno;

// Each thread of deno serve --parallel runs this module and has a pool of its own.
const threads = positiveInteger("DENO_JOBS", 1);

export const settings = {
  poolSize: Math.max(1, Math.floor(positiveInteger("POOL_SIZE", 16) / threads)),
  databaseUrl: env.get("DATABASE_URL"),
  upstreamUrl: env.get("UPSTREAM_URL"),
  blobPath: env.get("BLOB_PATH") ?? "blob.bin",
};

export type Settings = typeof settings;

function positiveInteger(name: string, fallback: number): number {
  const value = Number(env.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} is not a positive integer: ${env.get(name)}`);
  }
  return value;
}
