import { sendJson } from '../respond.js';

export function users(database) {
  return async (request, response) => {
    sendJson(response, await database.firstUsers());
  };
}
