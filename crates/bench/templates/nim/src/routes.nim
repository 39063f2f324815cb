## The routes, on Nim's own asynchttpserver until {{framework}} takes its place.

import std/[asyncdispatch, asynchttpserver, times]

proc headers(more: varargs[(string, string)]): HttpHeaders =
  let date = now().utc.format("ddd, dd MMM yyyy HH:mm:ss 'GMT'")
  newHttpHeaders(@{"Date": date, "Content-Type": "text/plain; charset=utf-8"} & @more)

proc answer*(request: Request) {.async, gcsafe.} =
  case request.url.path
  of "/plaintext":
    if request.reqMethod == HttpGet:
      await request.respond(Http200, "Hello, World!", headers())
    else:
      await request.respond(Http405, "method not allowed", headers(("Allow", "GET")))
  else:
    await request.respond(Http404, "not found", headers())
