import { startWorker } from '../worker.js';

const PAYLOAD = Buffer.alloc(1 << 20, 'd');

export async function payload(app) {
  const askWorker = startWorker(PAYLOAD);

  app.get('/payload', (request, reply) => {
    sendPayload(reply, PAYLOAD);
  });

  app.get('/ping-pong', async (request, reply) => sendPayload(reply, await askWorker()));
}

function sendPayload(reply, body) {
  return reply.type('application/octet-stream').send(body);
}
