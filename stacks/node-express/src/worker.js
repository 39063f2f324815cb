import { EventEmitter, on } from 'node:events';

/** Starts a worker that answers each request with `payload`. Returns a function that asks it. */
export function startWorker(payload) {
  const requests = new EventEmitter();
  work(requests, payload);

  return function ask() {
    return new Promise((reply) => requests.emit('request', reply));
  };
}

/** Answers one request after another. `on` queues those that arrive meanwhile. */
async function work(requests, payload) {
  for await (const [reply] of on(requests, 'request')) {
    reply(payload);
  }
}
