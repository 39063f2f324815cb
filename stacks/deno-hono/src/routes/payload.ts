import { type Context, Hono } from "hono";
import { startWorker } from "../payload-worker.ts";

const PAYLOAD = new Uint8Array(1 << 20).fill("d".charCodeAt(0));

const askWorker = startWorker(PAYLOAD);

export const payload = new Hono()
  .get("/payload", (c) => sendPayload(c, PAYLOAD))
  .get("/ping-pong", async (c) => sendPayload(c, await askWorker()));

function sendPayload(c: Context, body: Uint8Array<ArrayBuffer>): Response {
  return c.body(body, 200, { "Content-Type": "application/octet-stream" });
}
