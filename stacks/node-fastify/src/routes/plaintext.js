export async function plaintext(app) {
  app.get('/plaintext', (request, reply) => {
    reply.send('Hello, World!');
  });
}
