import { HttpError } from '../http-error.js';

export function listPeople(request, response) {
  response.json([{ name: 'John', username: 'Doe' }]);
}

export function greetPerson(request, response) {
  const person = request.body;
  if (!isPerson(person)) throw new HttpError(400, 'expected an object with a name and a username');
  response.type('text/plain').send(`Hello, ${person.name}!`);
}

function isPerson(value) {
  return typeof value?.name === 'string' && typeof value.username === 'string';
}
