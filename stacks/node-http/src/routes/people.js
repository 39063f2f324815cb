import { readJson } from '../body.js';
import { HttpError } from '../http-error.js';
import { sendJson, sendText } from '../respond.js';

export function listPeople(request, response) {
  sendJson(response, [{ name: 'John', username: 'Doe' }]);
}

export async function greetPerson(request, response) {
  const person = await readJson(request);
  if (!isPerson(person)) throw new HttpError(400, 'expected an object with a name and a username');
  sendText(response, `Hello, ${person.name}!`);
}

function isPerson(value) {
  return typeof value?.name === 'string' && typeof value.username === 'string';
}
