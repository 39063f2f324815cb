import { STATUS_CODES } from 'node:http';

/** A failure that is answered with a status rather than logged. */
export class HttpError extends Error {
  constructor(status, message = STATUS_CODES[status]) {
    super(message);
    this.status = status;
  }
}
