## The settings, all from the environment.

import std/[cpuinfo, os, strutils]

type
  Settings* = object
    host*: string
    port*: int
    threads*: int
    poolSize*: int ## Database connections of one thread.
    databaseUrl*: string
    upstreamUrl*: string
    blobPath*: string
    staticDir*: string

proc readSettings*(): Settings =
  let cpus = getEnv("CPUS", $countProcessors()).parseInt
  let poolSize = getEnv("POOL_SIZE", "16").parseInt
  # Every thread needs a database connection at least.
  let threads = max(1, min(cpus, poolSize))
  Settings(
    host: getEnv("HOST", "127.0.0.1"),
    port: getEnv("PORT", "8080").parseInt,
    threads: threads,
    poolSize: poolSize div threads,
    databaseUrl: getEnv("DATABASE_URL"),
    upstreamUrl: getEnv("UPSTREAM_URL"),
    blobPath: getEnv("BLOB_PATH"),
    staticDir: getEnv("STATIC_DIR"))
