import { HttpError } from './http-error.js';

/** Fastify answers with the status that its own errors and HttpError have; others are logged, and tell nothing. */
export function answerError(error, request, reply) {
  if (error.statusCode !== undefined) {
    reply.send(error);
    return;
  }
  console.error(error);
  reply.send(new HttpError(500));
}
