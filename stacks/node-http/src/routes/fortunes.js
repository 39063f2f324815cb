import { withAdditional } from '../fortunes.js';
import { sendHtml } from '../respond.js';
import { compileView } from '../views.js';

const renderFortunes = compileView('fortunes');

export function fortunes(database) {
  return async (request, response) => {
    const fortunes = withAdditional(await database.allFortunes());
    sendHtml(response, renderFortunes({ fortunes }));
  };
}
