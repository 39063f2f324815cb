## A slow upstream, relayed.

import std/[asyncdispatch, asynchttpserver, logging]
import ".."/[app, http_error, respond, upstream]

proc relay*(app: App, request: Request) {.async.} =
  if app.upstream.isNil:
    raise newHttpError(Http502, "no UPSTREAM_URL")
  var answer: Answer
  try:
    answer = await app.upstream.fetch()
  except CatchableError as error:
    error("the upstream failed: ", error.msg)
    raise newHttpError(Http502, "the upstream failed")
  await request.respond(Http200, answer.body, headers(answer.contentType))
