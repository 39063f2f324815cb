import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { fetchUpstream } from "../upstream.ts";

export const proxy = (upstreamUrl: string) =>
  new Hono().get("/proxy", async (c) => {
    const { contentType, content } = await fetchUpstream(upstreamUrl).catch(
      (cause) => {
        throw new HTTPException(502, { cause });
      },
    );
    return c.body(content, 200, { "Content-Type": contentType });
  });
