import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { createDatabase } from "./database.ts";
import { hash } from "./routes/hash.ts";
import { payload } from "./routes/payload.ts";
import { people } from "./routes/people.ts";
import { plaintext } from "./routes/plaintext.ts";
import { proxy } from "./routes/proxy.ts";
import { users } from "./routes/users.ts";
import type { Settings } from "./settings.ts";

/** The application, and a function that closes what it holds open. */
export function createApp(settings: Settings) {
  const database = createDatabase(settings.databaseUrl, settings.poolSize);

  const app = new Hono()
    .route("/", plaintext)
    .route("/", people)
    .route("/", payload)
    .route("/", hash(settings.blobPath))
    .route("/", users(database))
    .route("/", proxy(settings.upstreamUrl));
  // Hono logs no exception that has an answer of its own.
  app.onError((error, c) => {
    const answer = error instanceof HTTPException
      ? error.getResponse()
      : c.text("Internal Server Error", 500);
    if (answer.status >= 500) console.error(error);
    return answer;
  });

  return { app, close: database.close };
}
