## Answers of the types that the routes have.

import std/[asyncdispatch, asynchttpserver, json, times]

proc headers*(contentType: string): HttpHeaders =
  ## What every answer has. asynchttpserver itself sends no date.
  newHttpHeaders({
    "Content-Type": contentType,
    "Date": getTime().utc.format("ddd, dd MMM yyyy HH:mm:ss 'GMT'")})

proc respondText*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, headers("text/plain; charset=utf-8"))

proc respondJson*(request: Request, body: JsonNode): Future[void] =
  request.respond(Http200, $body, headers("application/json"))

proc respondBytes*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, headers("application/octet-stream"))
