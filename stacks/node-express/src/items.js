import { HttpError } from './http-error.js';
import { parseInteger } from './integers.js';

const MAX_ID = 2 ** 31 - 1;
const MAX_LIMIT = 100;
const MAX_PRICE = 1_000_000;
// PostgreSQL's text holds any character but NUL.
const NAME = /^[^\0]{1,100}$/u;

/** The id in a path. */
export function itemId(text) {
  const id = parseInteger(text, 1, MAX_ID);
  if (id === undefined) throw new HttpError(404);
  return id;
}

/** The page that a query asks for. */
export function itemsPage(query) {
  const after = parseInteger(query.after ?? '0', 0, MAX_ID);
  const limit = parseInteger(query.limit ?? '20', 1, MAX_LIMIT);
  if (after === undefined) throw new HttpError(400, 'after must be a number from 0');
  if (limit === undefined) {
    throw new HttpError(400, `limit must be a number from 1 to ${MAX_LIMIT}`);
  }
  return { after, limit };
}

/** What a body says of an item. */
export function itemDraft(body) {
  const { name, price } = body ?? {};
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new HttpError(400, 'name must have 1 to 100 characters');
  }
  if (!Number.isInteger(price) || price < 0 || price > MAX_PRICE) {
    throw new HttpError(400, `price must be an integer from 0 to ${MAX_PRICE}`);
  }
  return { name, price };
}

/** The item, if it was found. */
export function existing(item) {
  if (item === undefined) throw new HttpError(404);
  return item;
}
