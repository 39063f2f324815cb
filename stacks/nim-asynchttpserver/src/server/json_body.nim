## JSON that a request brings.

import std/[asynchttpserver, json, strutils]
from std/unicode import validateUtf8
import http_error

proc requireJson(request: Request) =
  let contentType: string = request.headers.getOrDefault("Content-Type")
  if contentType.split(';')[0].strip.toLowerAscii != "application/json":
    raise newHttpError(Http415, "application/json, please")

proc jsonBody*(request: Request): JsonNode =
  requireJson(request)
  try:
    if validateUtf8(request.body) >= 0:
      raise newException(ValueError, "not UTF-8")
    request.body.parseJson
  except ValueError as error:
    raise newHttpError(Http400, "JSON, please: " & error.msg)
