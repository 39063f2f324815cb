export function plaintext(request, response) {
  response.type('text/plain').send('Hello, World!');
}
