## Answers of the types that the routes have.

import std/[asyncdispatch, asynchttpserver, json, times]
import gzip

var
  dateSecond {.threadvar.}: int64
  dateText {.threadvar.}: string

proc date(): string =
  ## Formatted once a second, as it has no smaller unit.
  let now = getTime()
  if now.toUnix != dateSecond:
    dateSecond = now.toUnix
    dateText = now.utc.format("ddd, dd MMM yyyy HH:mm:ss 'GMT'")
  dateText

proc headers*(contentType: string): HttpHeaders =
  ## What every answer has. asynchttpserver itself sends no date.
  newHttpHeaders({"Content-Type": contentType, "Date": date()})

proc respondText*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, headers("text/plain; charset=utf-8"))

proc respondJson*(request: Request, body: JsonNode): Future[void] =
  request.respond(Http200, $body, headers("application/json"))

proc respondCompressed*(request: Request, body: JsonNode): Future[void] =
  ## Compressed if the client accepts gzip.
  let headers = headers("application/json")
  headers["Vary"] = "Accept-Encoding"
  if request.acceptsGzip:
    headers["Content-Encoding"] = "gzip"
    request.respond(Http200, gzip($body), headers)
  else:
    request.respond(Http200, $body, headers)

proc respondCreated*(request: Request, location: string, body: JsonNode): Future[void] =
  let headers = headers("application/json")
  headers["Location"] = location
  request.respond(Http201, $body, headers)

proc respondNoContent*(request: Request): Future[void] =
  let headers = headers("text/plain")
  headers.del("Content-Type")
  request.respond(Http204, "", headers)

proc respondHtml*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, headers("text/html; charset=utf-8"))

proc respondBytes*(request: Request, body: string): Future[void] =
  request.respond(Http200, body, headers("application/octet-stream"))
