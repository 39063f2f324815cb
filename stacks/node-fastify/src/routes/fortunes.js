import { join } from 'node:path';
import view from '@fastify/view';
import ejs from 'ejs';
import { withAdditional } from '../fortunes.js';

const VIEWS = join(import.meta.dirname, '../../views');

export async function fortunes(app, { database }) {
  app.register(view, { engine: { ejs }, root: VIEWS });

  app.get('/fortunes', async (request, reply) => {
    const fortunes = withAdditional(await database.allFortunes());
    return reply.view('fortunes', { fortunes });
  });
}
