import { Chan } from 'ts-chan';

/** A worker that answers each request it receives with `payload`; returns a function that asks it. */
export function startWorker(payload) {
  const requests = new Chan();
  work(requests, payload);

  return async function ask() {
    const reply = new Chan(1);
    await requests.send({ reply });
    const { value } = await reply.recv();
    return value;
  };
}

async function work(requests, payload) {
  for (;;) {
    const { value: request } = await requests.recv();
    await request.reply.send(payload);
  }
}
