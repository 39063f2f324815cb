import { HttpError } from '../http-error.js';

export function listPeople(request, response) {
  response.json([{ name: 'John', username: 'Doe' }]);
}

export function greetPerson(request, response) {
  const person = request.body;
  if (typeof person?.name !== 'string') throw new HttpError(400, 'expected an object with a name');
  response.type('text/plain').send(`Hello, ${person.name}!`);
}
