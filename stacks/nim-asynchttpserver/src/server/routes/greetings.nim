## Plain text and JSON.

import std/[asyncdispatch, asynchttpserver, json, strutils]
from std/unicode import validateUtf8
import ".."/[app, http_error, respond]

type Person = object
  name, username: string

proc plaintext*(app: App, request: Request) {.async.} =
  await request.respondText("Hello, World!")

proc people*(app: App, request: Request) {.async.} =
  await request.respondJson(%[Person(name: "John", username: "Doe")])

proc requireJson(request: Request) =
  let contentType: string = request.headers.getOrDefault("Content-Type")
  if contentType.split(';')[0].strip.toLowerAscii != "application/json":
    raise newHttpError(Http415, "application/json, please")

proc readPerson(body: string): Person =
  try:
    if validateUtf8(body) >= 0:
      raise newException(ValueError, "not UTF-8")
    let node = body.parseJson
    for key in ["name", "username"]:
      # `to` would take null for an empty string.
      if node{key}.isNil or node{key}.kind != JString:
        raise newException(ValueError, "no text for a " & key)
    node.to(Person)
  except ValueError as error:
    raise newHttpError(Http400, "a person in JSON, please: " & error.msg)

proc greet*(app: App, request: Request) {.async.} =
  requireJson(request)
  await request.respondText("Hello, " & readPerson(request.body).name & "!")
