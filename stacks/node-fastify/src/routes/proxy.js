import { HttpError } from '../http-error.js';

export async function proxy(app, { upstream }) {
  app.get('/proxy', async (request, reply) => {
    const { contentType, content } = await upstream.fetch().catch(() => {
      throw new HttpError(502);
    });
    return reply.type(contentType).send(content);
  });
}
