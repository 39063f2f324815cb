import { startWorker } from '../worker.js';

const PAYLOAD = Buffer.alloc(1 << 20, 'd');
const askWorker = startWorker(PAYLOAD);

export function payload(request, response) {
  sendPayload(response, PAYLOAD);
}

export async function pingPong(request, response) {
  sendPayload(response, await askWorker());
}

function sendPayload(response, body) {
  response.type('application/octet-stream').send(body);
}
