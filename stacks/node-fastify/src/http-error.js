import { STATUS_CODES } from 'node:http';

/** A failure that is answered with a status rather than logged. */
export class HttpError extends Error {
  constructor(statusCode, message = STATUS_CODES[statusCode]) {
    super(message);
    this.statusCode = statusCode;
  }
}
