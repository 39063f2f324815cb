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
  // Left open when the body is too long, so that this can be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new HttpError(413);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
