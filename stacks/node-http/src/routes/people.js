import { readJson } from '../body.js';
import { HttpError } from '../http-error.js';
import { sendJson, sendText } from '../respond.js';

export function listPeople(request, response) {
  sendJson(response, [{ name: 'John', username: 'Doe' }]);
}

export async function greetPerson(request, response) {
  const person = await readJson(request);
  if (typeof person?.name !== 'string') throw new HttpError(400, 'expected an object with a name');
  sendText(response, `Hello, ${person.name}!`);
}
