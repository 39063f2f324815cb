import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { z } from "zod";
import { productsFrom } from "../products.ts";

const MAX_FROM = 1_000_000;

const query = z.object({
  from: z.coerce.number().int().min(1).max(MAX_FROM),
});

export const products = new Hono().get(
  "/products",
  compress(),
  zValidator("query", query),
  (c) => {
    return c.json(productsFrom(c.req.valid("query").from));
  },
);
