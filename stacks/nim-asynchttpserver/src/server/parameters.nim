## Numbers in a query.

import std/[asynchttpserver, strutils, uri]
import http_error

proc parseNumber*(text: string, allowed: Slice[int]): int =
  ## -1 if it is none of the allowed ones, which are positive or 0.
  result = -1
  # parseInt alone would also read "1_000".
  if text.len in 1 .. len($allowed.b) and text.allCharsInSet(Digits):
    let number = text.parseInt
    if number in allowed:
      result = number

proc number*(request: Request, name: string, allowed: Slice[int], missing = -1): int =
  ## A parameter of the query; it must be there if nothing stands for a missing one.
  result = missing
  for (key, value) in decodeQuery(request.url.query):
    if key == name:
      result = parseNumber(value, allowed)
  if result < 0:
    raise newHttpError(Http400, name & " is a number from " & $allowed.a & " to " & $allowed.b)
