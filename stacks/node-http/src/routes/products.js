import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HttpError } from '../http-error.js';
import { parseInteger } from '../integers.js';
import { productsFrom } from '../products.js';
import { send } from '../respond.js';

const MAX_FROM = 1_000_000;
const compress = promisify(gzip);

export async function products(request, response, query) {
  const from = parseInteger(new URLSearchParams(query).get('from'), 1, MAX_FROM);
  if (from === undefined) throw new HttpError(400, `from must be a number from 1 to ${MAX_FROM}`);
  const json = JSON.stringify(productsFrom(from));
  response.setHeader('Vary', 'Accept-Encoding');
  if (!acceptsGzip(request.headers['accept-encoding'])) {
    send(response, json, 'application/json');
    return;
  }
  const compressed = await compress(json);
  response.setHeader('Content-Encoding', 'gzip');
  send(response, compressed, 'application/json');
}

/** Whether a list of codings has gzip, with another weight than 0 (RFC 9110, section 12.5.3). */
function acceptsGzip(codings = '') {
  return codings.split(',').some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
