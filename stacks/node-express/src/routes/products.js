import { HttpError } from '../http-error.js';
import { parseInteger } from '../integers.js';
import { productsFrom } from '../products.js';

const MAX_FROM = 1_000_000;

export function products(request, response) {
  const from = parseInteger(request.query.from, 1, MAX_FROM);
  if (from === undefined) throw new HttpError(400, `from must be a number from 1 to ${MAX_FROM}`);
  response.json(productsFrom(from));
}
