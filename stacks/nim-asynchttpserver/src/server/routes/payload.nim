## One mebibyte, written directly or handed over by a worker.

import std/[asyncdispatch, asynchttpserver]
import ".."/[app, payload_worker, respond]

proc direct*(app: App, request: Request) {.async.} =
  await request.respondBytes(oneMebibyte)

proc handedOver*(app: App, request: Request) {.async.} =
  await request.respondBytes(await app.payloadWorker.ask())
