import { EventEmitter, on } from "node:events";

type Payload = Uint8Array<ArrayBuffer>;
type Reply = (payload: Payload) => void;

/** A worker that answers each request with `payload`; returns a function that asks it. */
export function startWorker(payload: Payload): () => Promise<Payload> {
  const requests = new EventEmitter();
  void work(requests, payload);

  return function ask() {
    return new Promise((reply: Reply) => requests.emit("request", reply));
  };
}

/** Answers one request after another. `on` queues those that arrive meanwhile. */
async function work(requests: EventEmitter, payload: Payload): Promise<void> {
  for await (const [reply] of on(requests, "request")) {
    (reply as Reply)(payload);
  }
}
