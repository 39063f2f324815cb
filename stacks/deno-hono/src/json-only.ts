import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";

const MAX_BODY = 1 << 20;

export const limitBody = bodyLimit({ maxSize: MAX_BODY });

/** Refuses other media types. Hono's validator would also accept those that end in "+json". */
export const jsonOnly = createMiddleware(async (c, next) => {
  const [mediaType] = (c.req.header("Content-Type") ?? "").split(";", 1);
  if (mediaType?.trim().toLowerCase() !== "application/json") {
    throw new HTTPException(415, { message: "expected application/json" });
  }
  await next();
});
