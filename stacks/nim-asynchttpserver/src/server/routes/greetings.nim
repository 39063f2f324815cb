## Plain text and JSON.

import std/[asyncdispatch, asynchttpserver, json, unicode]
import ".."/[app, http_error, respond]

type Person = object
  name, username: string

proc plaintext*(app: App, request: Request) {.async.} =
  await request.respondText("Hello, World!")

proc people*(app: App, request: Request) {.async.} =
  await request.respondJson(%[Person(name: "John", username: "Doe")])

proc readPerson(body: string): Person =
  try:
    if validateUtf8(body) >= 0:
      raise newException(ValueError, "not UTF-8")
    let node = body.parseJson
    let name = node{"name"}
    # `to` would take null for an empty string.
    if name.isNil or name.kind != JString:
      raise newException(ValueError, "no text for a name")
    node.to(Person)
  except ValueError as error:
    raise newHttpError(Http400, "a JSON object with a name, please: " & error.msg)

proc greet*(app: App, request: Request) {.async.} =
  await request.respondText("Hello, " & readPerson(request.body).name & "!")
