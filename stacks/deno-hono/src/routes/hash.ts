import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import { digest } from "../digest.ts";

const MAX_ROUNDS = 1_000_000;

const query = z.object({
  rounds: z.coerce.number().int().min(1).max(MAX_ROUNDS),
});

export const hash = (blobPath: string) =>
  new Hono().get("/bytes", zValidator("query", query), async (c) => {
    const { rounds } = c.req.valid("query");
    return c.text(await digest(await Deno.readFile(blobPath), rounds));
  });
