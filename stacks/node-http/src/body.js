import { HttpError } from './http-error.js';

const MAX_BODY_BYTES = 1 << 20;

/** Reads the request's body, sized or chunked, as JSON. */
export async function readJson(request) {
  const body = await readBody(request);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new HttpError(400, 'malformed JSON');
  }
}

async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // A body that is too long is read off nevertheless: behind it comes the next request.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES) throw new HttpError(413);
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
