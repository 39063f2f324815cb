## Answers of the types that the routes have.

import std/[asyncdispatch, asynchttpserver, json]

proc respondText*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, newHttpHeaders({"Content-Type": "text/plain; charset=utf-8"}))

proc respondJson*(request: Request, body: JsonNode): Future[void] =
  request.respond(Http200, $body, newHttpHeaders({"Content-Type": "application/json"}))

proc respondBytes*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, newHttpHeaders({"Content-Type": "application/octet-stream"}))
