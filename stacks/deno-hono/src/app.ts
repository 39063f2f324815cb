import { Hono } from "hono";
import { createDatabase } from "./database.ts";
import { answerError } from "./errors.ts";
import { files } from "./routes/files.ts";
import { fortunes } from "./routes/fortunes.tsx";
import { hash } from "./routes/hash.ts";
import { items } from "./routes/items.ts";
import { payload } from "./routes/payload.ts";
import { people } from "./routes/people.ts";
import { plaintext } from "./routes/plaintext.ts";
import { products } from "./routes/products.ts";
import { proxy } from "./routes/proxy.ts";
import { upload } from "./routes/upload.ts";
import { users } from "./routes/users.ts";
import type { Settings } from "./settings.ts";

/** The application, and a function that closes what it holds open. */
export function createApp(settings: Settings) {
  const { databaseUrl, poolSize, upstreamUrl, blobPath, staticDir } = settings;

  const app = new Hono()
    .route("/", plaintext)
    .route("/", people)
    .route("/", files(staticDir))
    .route("/", products)
    .route("/", upload)
    .route("/", payload)
    .route("/", hash(blobPath));
  app.onError(answerError);

  const database = databaseUrl
    ? createDatabase(databaseUrl, poolSize)
    : undefined;
  if (database) {
    app.route("/", users(database));
    app.route("/", fortunes(database));
    app.route("/", items(database));
  }
  if (upstreamUrl) app.route("/", proxy(upstreamUrl));

  return { app, close: async () => await database?.close() };
}
