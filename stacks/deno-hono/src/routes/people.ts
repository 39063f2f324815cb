import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { jsonOnly } from "../json-only.ts";

const MAX_BODY = 1 << 20;

const person = z.object({ name: z.string(), username: z.string() });

export const people = new Hono()
  .get("/json", (c) => c.json([{ name: "John", username: "Doe" }]))
  .post(
    "/json",
    jsonOnly,
    bodyLimit({ maxSize: MAX_BODY }),
    zValidator("json", person),
    (c) => {
      const { name } = c.req.valid("json");
      return c.text(`Hello, ${name}!`);
    },
  );
