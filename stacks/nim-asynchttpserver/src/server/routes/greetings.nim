## Plain text and JSON.

import std/[asyncdispatch, asynchttpserver, json]
import ".."/[app, http_error, json_body, respond]

type Person = object
  name, username: string

proc plaintext*(app: App, request: Request) {.async.} =
  await request.respondText("Hello, World!")

proc people*(app: App, request: Request) {.async.} =
  await request.respondJson(%[Person(name: "John", username: "Doe")])

proc readPerson(node: JsonNode): Person =
  for key in ["name", "username"]:
    # `to` would take null for an empty string.
    if node{key}.isNil or node{key}.kind != JString:
      raise newHttpError(Http400, "a person in JSON, please: no text for a " & key)
  node.to(Person)

proc greet*(app: App, request: Request) {.async.} =
  await request.respondText("Hello, " & readPerson(request.jsonBody).name & "!")
