## One thread's server.

import std/[asyncdispatch, asynchttpserver, asyncnet, importutils, logging, net]
import app, router, settings
import routes/[files, fortunes, greetings, hashing, items, payload, products, proxy, users]

const descriptorsPerRequest = 2 # the client's and the upstream's

proc routes(): Router =
  result = newRouter()
  result.add(HttpGet, "/plaintext", plaintext)
  result.add(HttpGet, "/json", people)
  result.add(HttpPost, "/json", greet)
  result.add(HttpGet, "/static/**", servedFile)
  result.add(HttpGet, "/products", listProducts)
  result.add(HttpGet, "/bytes", hashed)
  result.add(HttpGet, "/payload", direct)
  result.add(HttpGet, "/ping-pong", handedOver)
  result.add(HttpGet, "/proxy", relay)
  result.add(HttpGet, "/users", firstUsers)
  result.add(HttpGet, "/fortunes", sortedFortunes)
  result.add(HttpGet, "/items", listItems)
  result.add(HttpPost, "/items", createItem)
  result.add(HttpGet, "/items/*", readItem)
  result.add(HttpPut, "/items/*", replaceItem)
  result.add(HttpDelete, "/items/*", deleteItem)

proc acceptForever(server: AsyncHttpServer, app: App, router: Router) {.async.} =
  proc handle(request: Request): Future[void] {.gcsafe.} =
    router.answer(app, request)

  while true:
    if server.shouldAcceptRequest(descriptorsPerRequest):
      await server.acceptRequest(handle)
    else:
      # Out of file descriptors: let some requests end.
      await sleepAsync(10)

proc serve*(settings: Settings) {.thread.} =
  addHandler(newConsoleLogger(fmtStr = "$datetime $levelname ", useStderr = true))
  let server = newAsyncHttpServer(reusePort = settings.threads > 1)
  server.listen(Port(settings.port), settings.host)
  privateAccess(AsyncHttpServer)
  # asynchttpserver has no setting for it. Accepted sockets inherit it.
  server.socket.setSockOpt(OptNoDelay, true, level = IPPROTO_TCP.cint)
  asyncCheck server.acceptForever(newApp(settings), routes())
  while true:
    try:
      poll()
    except CatchableError as error:
      # What a client provoked, outside of our handlers, ends no other's request.
      warn("a connection failed: ", error.msg)
