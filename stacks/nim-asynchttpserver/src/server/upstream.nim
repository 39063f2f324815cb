## The slow upstream, over as many kept connections as there are requests under way.

import std/[asyncdispatch, httpclient, httpcore, monotimes, times]

const
  patience = initDuration(seconds = 10)
  keptFor = initDuration(seconds = 30)

type
  UpstreamError* = object of CatchableError
  Answer* = tuple[contentType, body: string]
  Kept = object
    client: AsyncHttpClient ## One connection, for one request at a time.
    since: MonoTime
  Upstream* = ref object
    url: string
    idle: seq[Kept] ## The longest idle ones first.

proc newUpstream*(url: string): Upstream = Upstream(url: url)

proc dropStale(upstream: Upstream) =
  var stale = 0
  while stale < upstream.idle.len and getMonoTime() - upstream.idle[
      stale].since > keptFor:
    upstream.idle[stale].client.close()
    inc stale
  if stale > 0:
    upstream.idle = upstream.idle[stale .. ^1]

proc acquire(upstream: Upstream): AsyncHttpClient =
  upstream.dropStale()
  if upstream.idle.len > 0: upstream.idle.pop().client
  else: newAsyncHttpClient(maxRedirects = 0)

proc relay(client: AsyncHttpClient, url: string): Future[Answer] {.async.} =
  let response = await client.get(url)
  let body = await response.body
  if not response.code.is2xx:
    raise newException(UpstreamError, "the upstream answered " & $response.code)
  return (response.headers.getOrDefault("Content-Type").toString, body)

proc fetch*(upstream: Upstream): Future[Answer] {.async.} =
  let client = upstream.acquire()
  try:
    let answer = client.relay(upstream.url)
    if not await answer.withTimeout(int(patience.inMilliseconds)):
      raise newException(UpstreamError, "the upstream does not answer")
    result = answer.read
  except CatchableError:
    client.close()
    raise
  upstream.idle.add Kept(client: client, since: getMonoTime())
