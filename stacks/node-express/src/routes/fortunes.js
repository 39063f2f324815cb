import { withAdditional } from '../fortunes.js';

export function fortunes(database) {
  return async (request, response) => {
    response.render('fortunes', { fortunes: withAdditional(await database.allFortunes()) });
  };
}
