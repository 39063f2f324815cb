## Starts the server that the contract asks for: HOST and PORT, and the end at SIGTERM, which is the system's default.

import std/[asyncdispatch, asynchttpserver, os, strutils]
import routes

proc main() {.async.} =
  let server = newAsyncHttpServer()
  server.listen(Port(parseInt(getEnv("PORT"))), getEnv("HOST"))
  while true:
    if server.shouldAcceptRequest():
      await server.acceptRequest(answer)
    else:
      # As many connections as there may be descriptors.
      await sleepAsync(10)

waitFor main()
