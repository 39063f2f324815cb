export function sendText(response, text, status = 200) {
  send(response, text, 'text/plain; charset=utf-8', status);
}

export function sendHtml(response, html) {
  send(response, html, 'text/html; charset=utf-8');
}

export function sendJson(response, value, status = 200) {
  send(response, JSON.stringify(value), 'application/json', status);
}

export function send(response, body, contentType, status = 200) {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
