type Payload = Uint8Array<ArrayBuffer>;
type Reply = (payload: Payload) => void;

/** A worker that answers each request with `payload`; returns a function that asks it. */
export function startWorker(payload: Payload): () => Promise<Payload> {
  const { readable, writable } = new TransformStream<Reply, Reply>();
  const requests = writable.getWriter();
  void work(readable, payload);

  return function ask() {
    return new Promise((reply) => requests.write(reply));
  };
}

/** Answers one request after another. The stream queues those that arrive meanwhile. */
async function work(
  requests: ReadableStream<Reply>,
  payload: Payload,
): Promise<void> {
  for await (const reply of requests) reply(payload);
}
