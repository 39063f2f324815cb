import { digestOfStream } from '../digest.js';
import { HttpError } from '../http-error.js';

const MAX_BYTES = 16 * 1024 * 1024;

export async function upload(app) {
  // The body is handed over as the stream that it is.
  app.addContentTypeParser('application/octet-stream', (request, payload, done) => {
    done(null, payload);
  });

  app.post('/upload', { bodyLimit: MAX_BYTES }, async (request) => {
    const digest = await digestOfStream(request.body, MAX_BYTES);
    if (digest === undefined) throw new HttpError(413);
    return digest;
  });
}
