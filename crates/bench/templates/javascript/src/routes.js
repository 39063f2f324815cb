// The routes, on Node's own http until {{framework}} takes its place.
const text = 'text/plain; charset=utf-8';

const routes = {
  '/plaintext': { GET: (request, response) => answer(response, 200, 'Hello, World!') },
};

export function route(request, response) {
  const path = request.url.split('?', 1)[0];
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (methods === undefined) {
    answer(response, 404, 'not found');
  } else if (!Object.hasOwn(methods, request.method)) {
    answer(response, 405, 'method not allowed', { allow: Object.keys(methods).join(', ') });
  } else {
    methods[request.method](request, response);
  }
}

function answer(response, status, body, headers = {}) {
  response.writeHead(status, {
    'content-type': text,
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
