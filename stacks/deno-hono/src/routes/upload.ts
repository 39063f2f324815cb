import { createHash } from "node:crypto";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";

const MAX_BYTES = 16 * 1024 * 1024;

/** Answers with the SHA-256 of the body, which is hashed piece by piece; base64. */
export const upload = new Hono().post("/upload", async (c) => {
  const sha256 = createHash("sha256");
  let length = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new HTTPException(413);
    sha256.update(chunk);
  }
  return c.text(sha256.digest("base64"));
});
