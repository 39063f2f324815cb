## A worker that hands over the payload.

import std/[asyncdispatch, asyncstreams, strutils]

const oneMebibyte* = repeat('d', 1 shl 20)

type
  Reply = Future[string]
  PayloadWorker* = ref object
    mailbox: FutureStream[Reply]

proc work(mailbox: FutureStream[Reply]) {.async.} =
  while true:
    let (open, reply) = await mailbox.read()
    if not open: break
    reply.complete(oneMebibyte)

proc startPayloadWorker*(): PayloadWorker =
  result = PayloadWorker(mailbox: newFutureStream[Reply]("mailbox"))
  asyncCheck work(result.mailbox)

proc ask*(worker: PayloadWorker): Future[string] =
  result = newFuture[string]("ask")
  asyncCheck worker.mailbox.write(result)
