import { HttpError } from './http-error.js';

const MAX_BODY_BYTES = 1 << 20;

/** Reads the request's body, sized or chunked, as JSON. */
export async function readJson(request) {
  if (!isJson(request.headers['content-type'])) {
    throw new HttpError(415, 'expected application/json');
  }
  const body = await readBody(request);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new HttpError(400, 'malformed JSON');
  }
}

function isJson(contentType = '') {
  const [type] = contentType.split(';', 1);
  return type.trim().toLowerCase() === 'application/json';
}

async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // A body that is too long is read to its end, because the next request follows it.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES) throw new HttpError(413);
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
