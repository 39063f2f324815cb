## SHA-256 of a file, over and over.

import std/[asyncdispatch, asynchttpserver, base64]
import ".."/[app, parameters, respond, sha256]

const maxRounds = 1_000_000

proc hashed*(app: App, request: Request) {.async.} =
  let rounds = request.number("rounds", 1 .. maxRounds)
  var digest = sha256(readFile(app.settings.blobPath))
  for _ in 2 .. rounds:
    digest = sha256(digest)
  await request.respondText(encode(digest))
