import { HttpError } from './http-error.js';

export function notFound() {
  throw new HttpError(404);
}

/** Answers with the error's own status, as HttpError and Express' body parser have one; others are logged. */
export function answerErrors(error, request, response, next) {
  // The client has gone.
  if (response.destroyed) return;
  if (error.status === undefined) console.error(error);
  if (response.headersSent) {
    next(error);
    return;
  }
  const { status, message } = error.status === undefined ? new HttpError(500) : error;
  response.status(status).type('text/plain').send(message);
}
