import send from 'send';
import { HttpError } from '../http-error.js';

/** Serves the files of a folder. */
export function staticFiles(root) {
  return (request, response, query, name) =>
    new Promise((resolve, reject) => {
      send(request, `/${name}`, { root, index: false })
        .on('error', ({ status }) => reject(new HttpError(status)))
        .on('directory', () => reject(new HttpError(404)))
        .pipe(response);
      response.on('close', resolve);
    });
}
