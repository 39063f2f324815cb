import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { Database } from "../database.ts";
import { jsonOnly, limitBody } from "../json-only.ts";

const MAX_ID = 2 ** 31 - 1;

const params = z.object({
  id: z.coerce.number().int().min(1).max(MAX_ID),
});

const page = z.object({
  after: z.coerce.number().int().min(0).max(MAX_ID).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const draft = z.object({
  // PostgreSQL's text holds any character but NUL.
  name: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\0]*$/),
  price: z.int().min(0).max(1_000_000),
});

export const items = (database: Database) =>
  new Hono()
    .get("/items", zValidator("query", page), async (c) => {
      const { after, limit } = c.req.valid("query");
      return c.json(await database.itemsAfter(after, limit));
    })
    .post(
      "/items",
      jsonOnly,
      limitBody,
      zValidator("json", draft),
      async (c) => {
        const item = await database.createItem(c.req.valid("json"));
        return c.json(item, 201, { Location: `/items/${item.id}` });
      },
    )
    .get("/items/:id", zValidator("param", params), async (c) => {
      const item = await database.item(c.req.valid("param").id);
      return item ? c.json(item) : c.notFound();
    })
    .put(
      "/items/:id",
      jsonOnly,
      limitBody,
      zValidator("param", params),
      zValidator("json", draft),
      async (c) => {
        const { id } = c.req.valid("param");
        const item = await database.replaceItem(id, c.req.valid("json"));
        return item ? c.json(item) : c.notFound();
      },
    )
    .delete("/items/:id", zValidator("param", params), async (c) => {
      const deleted = await database.deleteItem(c.req.valid("param").id);
      return deleted ? c.body(null, 204) : c.notFound();
    });
