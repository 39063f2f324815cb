## Failures that are an answer.

import std/httpcore

type HttpError* = object of CatchableError
  code*: HttpCode

proc newHttpError*(code: HttpCode, message: string): ref HttpError =
  (ref HttpError)(code: code, msg: message)
