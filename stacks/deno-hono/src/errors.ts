import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";

/** Answers with the error's own status, if it has one. Hono itself logs none of these. */
export function answerError(error: Error, c: Context): Response {
  if (isBrokenBody(error)) return c.text("Bad Request", 400);
  const answer = error instanceof HTTPException
    ? error.getResponse()
    : c.text("Internal Server Error", 500);
  if (answer.status >= 500) console.error(error);
  return answer;
}

/** Whether a request's body broke off or is no valid chunk: what Deno throws when it is read. */
function isBrokenBody(error: Error): boolean {
  return error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.Http;
}
