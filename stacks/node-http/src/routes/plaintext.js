import { sendText } from '../respond.js';

export function plaintext(request, response) {
  sendText(response, 'Hello, World!');
}
