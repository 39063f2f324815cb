import { HttpError } from '../http-error.js';
import { send } from '../respond.js';

export function proxy(upstream) {
  return async (request, response) => {
    let answer;
    try {
      answer = await upstream.fetch();
    } catch {
      throw new HttpError(502);
    }
    send(response, answer.content, answer.contentType);
  };
}
