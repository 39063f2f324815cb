import { Hono } from "hono";
import { serveStatic } from "hono/deno";
import { etag } from "hono/etag";

const PREFIX = "/static";

/** Serves the files of a folder. Hono's ETag is a digest of the file. */
export const files = (root: string) =>
  new Hono().get(
    `${PREFIX}/*`,
    etag(),
    serveStatic({
      root,
      rewriteRequestPath: (path) => path.slice(PREFIX.length),
    }),
  );
