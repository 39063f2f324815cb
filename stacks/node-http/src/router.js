import { HttpError } from './http-error.js';
import { sendText } from './respond.js';

/**
 * Makes a request listener of `{ path: { METHOD: handler } }`; a handler may be async and may throw. The last segment of
 * a path may be `:id`, which stands for any.
 */
export function createRouter(routes) {
  const byPath = new Map(
    Object.entries(routes).map(([path, methods]) => [path, new Map(Object.entries(methods))]),
  );

  return async function handle(request, response) {
    try {
      await dispatch(byPath, request, response);
    } catch (error) {
      sendError(response, error);
    }
  };
}

async function dispatch(byPath, request, response) {
  const [path, query] = splitTarget(request.url);
  const [methods, id] = find(byPath, path);
  if (methods === undefined) throw new HttpError(404);
  // Node leaves the body out of the answer to HEAD.
  const handler = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
  if (handler === undefined) {
    response.setHeader('Allow', [...methods.keys()].join(', '));
    throw new HttpError(405);
  }
  await handler(request, response, query, id);
}

/** The methods of a path, and its id if it has one. */
function find(byPath, path) {
  const methods = byPath.get(path);
  if (methods !== undefined) return [methods];
  const start = path.lastIndexOf('/') + 1;
  return [byPath.get(`${path.slice(0, start)}:id`), path.slice(start)];
}

function splitTarget(target) {
  const mark = target.indexOf('?');
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function sendError(response, error) {
  // The client has gone: from its connection, or from HTTP/2's stream.
  if (response.destroyed || response.stream?.destroyed) return;
  const known = error instanceof HttpError;
  if (!known) console.error(error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, message } = known ? error : new HttpError(500);
  sendText(response, message, status);
}
