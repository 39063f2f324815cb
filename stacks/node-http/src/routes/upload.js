import { digestOfStream } from '../digest.js';
import { HttpError } from '../http-error.js';
import { sendText } from '../respond.js';

const MAX_BYTES = 16 * 1024 * 1024;

export async function upload(request, response) {
  const digest = await digestOfStream(request, MAX_BYTES);
  if (digest === undefined) throw new HttpError(413);
  sendText(response, digest);
}
