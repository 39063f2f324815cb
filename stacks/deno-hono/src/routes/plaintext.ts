import { Hono } from "hono";

export const plaintext = new Hono().get(
  "/plaintext",
  (c) => c.text("Hello, World!"),
);
