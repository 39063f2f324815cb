## The routes, on Nim's own asynchttpserver until {{framework}} takes its place.

import std/[asyncdispatch, asynchttpserver]

const text = {"Content-Type": "text/plain; charset=utf-8"}

proc answer*(request: Request) {.async, gcsafe.} =
  case request.url.path
  of "/plaintext":
    if request.reqMethod == HttpGet:
      await request.respond(Http200, "Hello, World!", newHttpHeaders(text))
    else:
      await request.respond(Http405, "method not allowed", newHttpHeaders(@text & ("Allow", "GET")))
  else:
    await request.respond(Http404, "not found", newHttpHeaders(text))
