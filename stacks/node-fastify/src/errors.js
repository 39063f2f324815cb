import { HttpError } from './http-error.js';

/** Fastify answers with the status that its own errors and HttpError have; others are logged, and tell nothing. */
export function answerError(error, request, reply) {
  // The client has gone: from its connection, or from HTTP/2's stream.
  if (reply.raw.destroyed || reply.raw.stream?.destroyed) return;
  if (error.statusCode !== undefined) {
    reply.send(error);
    return;
  }
  console.error(error);
  reply.send(new HttpError(500));
}
