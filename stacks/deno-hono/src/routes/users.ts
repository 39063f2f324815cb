import { Hono } from "hono";
import type { Database } from "../database.ts";

export const users = (database: Database) =>
  new Hono().get("/users", async (c) => c.json(await database.firstUsers()));
