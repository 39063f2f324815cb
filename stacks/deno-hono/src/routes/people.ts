import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import { jsonOnly, limitBody } from "../json-only.ts";

const person = z.object({ name: z.string(), username: z.string() });

export const people = new Hono()
  .get("/json", (c) => c.json([{ name: "John", username: "Doe" }]))
  .post(
    "/json",
    jsonOnly,
    limitBody,
    zValidator("json", person),
    (c) => {
      const { name } = c.req.valid("json");
      return c.text(`Hello, ${name}!`);
    },
  );
