import { Router } from 'express';
import { jsonBody } from '../body.js';
import { HttpError } from '../http-error.js';
import { existing, itemDraft, itemId, itemsPage } from '../items.js';

export function items(database) {
  const router = Router();

  router.get('/', async (request, response) => {
    const { after, limit } = itemsPage(request.query);
    response.json(await database.itemsAfter(after, limit));
  });

  router.post('/', jsonBody, async (request, response) => {
    const item = await database.createItem(itemDraft(request.body));
    response.status(201).location(`/items/${item.id}`).json(item);
  });

  router.get('/:id', async (request, response) => {
    response.json(existing(await database.item(itemId(request.params.id))));
  });

  router.put('/:id', jsonBody, async (request, response) => {
    const draft = itemDraft(request.body);
    response.json(existing(await database.replaceItem(itemId(request.params.id), draft)));
  });

  router.delete('/:id', async (request, response) => {
    if (!(await database.deleteItem(itemId(request.params.id)))) throw new HttpError(404);
    response.status(204).end();
  });

  return router;
}
