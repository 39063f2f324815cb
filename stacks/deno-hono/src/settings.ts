const { env } = Deno;

export const settings = {
  // Each thread of deno serve --parallel runs this module and has a pool of its own.
  poolSize: Math.floor(
    positiveInteger("POOL_SIZE", 16) / positiveInteger("DENO_JOBS", 1),
  ),
  databaseUrl: env.get("DATABASE_URL") ?? "",
  upstreamUrl: env.get("UPSTREAM_URL") ?? "",
  blobPath: env.get("BLOB_PATH") ?? "",
};

export type Settings = typeof settings;

function positiveInteger(name: string, fallback: number): number {
  const value = Number(env.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} is not a positive integer: ${env.get(name)}`);
  }
  return value;
}
