import { Ajv } from 'ajv';

// A path and a query are nothing but text, so that numbers are read from them. In a body a number is not taken for a text.
// With strictNumbers, Ajv would read 1e400 as Infinity and not compare it with the maximum.
const coercing = new Ajv({ coerceTypes: true, useDefaults: true, strictNumbers: false });
const strict = new Ajv();

/** Makes a validator of one part of a request from its schema. */
export function compileValidator({ schema, httpPart }) {
  return (httpPart === 'body' ? strict : coercing).compile(schema);
}
