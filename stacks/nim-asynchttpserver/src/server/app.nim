## What the requests of a thread share.

import std/mimetypes
import database, payload_worker, settings, upstream

type
  App* = ref object
    settings*: Settings
    database*: Pool     ## nil without a DATABASE_URL
    upstream*: Upstream ## nil without an UPSTREAM_URL
    payloadWorker*: PayloadWorker
    mimeTypes*: MimeDB

proc newApp*(settings: Settings): App =
  result = App(settings: settings, payloadWorker: startPayloadWorker(), mimeTypes: newMimetypes())
  if settings.databaseUrl != "":
    result.database = newPool(settings.databaseUrl, settings.poolSize)
  if settings.upstreamUrl != "":
    result.upstream = newUpstream(settings.upstreamUrl)
