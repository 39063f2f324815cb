const text = { type: 'string' };
const person = {
  type: 'object',
  required: ['name', 'username'],
  properties: { name: text, username: text },
};

const LIST = { response: { 200: { type: 'array', items: person } } };
const GREET = { body: person };

export async function people(app) {
  app.get('/json', { schema: LIST }, (request, reply) => {
    reply.send([{ name: 'John', username: 'Doe' }]);
  });

  app.post('/json', { schema: GREET }, (request, reply) => {
    reply.send(`Hello, ${request.body.name}!`);
  });
}
