import { readJson } from '../body.js';
import { HttpError } from '../http-error.js';
import { existing, itemDraft, itemId, itemsPage } from '../items.js';
import { sendJson } from '../respond.js';

/** The handlers of items; where a path has an id, they get it last. */
export function items(database) {
  return {
    async list(request, response, query) {
      const { after, limit } = itemsPage(Object.fromEntries(new URLSearchParams(query)));
      sendJson(response, await database.itemsAfter(after, limit));
    },
    async create(request, response) {
      const item = await database.createItem(itemDraft(await readJson(request)));
      response.setHeader('Location', `/items/${item.id}`);
      sendJson(response, item, 201);
    },
    async read(request, response, query, id) {
      sendJson(response, existing(await database.item(itemId(id))));
    },
    async replace(request, response, query, id) {
      const knownId = itemId(id);
      const draft = itemDraft(await readJson(request));
      sendJson(response, existing(await database.replaceItem(knownId, draft)));
    },
    async remove(request, response, query, id) {
      if (!(await database.deleteItem(itemId(id)))) throw new HttpError(404);
      response.writeHead(204).end();
    },
  };
}
