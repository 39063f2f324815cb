## SHA-256 of a file, over and over.

import std/[asyncdispatch, asynchttpserver, base64, strutils, uri]
import ".."/[app, http_error, respond, sha256]

const maxRounds = 1_000_000

proc readRounds(query: string): int =
  for (key, value) in decodeQuery(query):
    # parseInt alone would also read "1_000".
    if key == "rounds" and value.len in 1 .. len($maxRounds) and
        value.allCharsInSet(Digits):
      result = value.parseInt
  if result notin 1 .. maxRounds:
    raise newHttpError(Http400, "rounds is a number from 1 to " & $maxRounds)

proc hashed*(app: App, request: Request) {.async.} =
  let rounds = readRounds(request.url.query)
  var digest = sha256(readFile(app.settings.blobPath))
  for _ in 2 .. rounds:
    digest = sha256(digest)
  await request.respondText(encode(digest))
