const user = {
  type: 'object',
  required: ['id', 'email'],
  properties: { id: { type: 'integer' }, email: { type: 'string' } },
};

const LIST = { response: { 200: { type: 'array', items: user } } };

export async function users(app, { database }) {
  app.get('/users', { schema: LIST }, () => database.firstUsers());
}
