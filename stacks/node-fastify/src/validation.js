import { Ajv } from 'ajv';

// A query is nothing but text, so that numbers are read from it. In a body a number is not taken for a text.
const query = new Ajv({ coerceTypes: true });
const strict = new Ajv();

/** Makes a validator of one part of a request from its schema. */
export function compileValidator({ schema, httpPart }) {
  return (httpPart === 'querystring' ? query : strict).compile(schema);
}
