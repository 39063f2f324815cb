import { HttpError } from '../http-error.js';

export function proxy(upstream) {
  return async (request, response) => {
    let answer;
    try {
      answer = await upstream.fetch();
    } catch {
      throw new HttpError(502);
    }
    response.type(answer.contentType).send(answer.content);
  };
}
