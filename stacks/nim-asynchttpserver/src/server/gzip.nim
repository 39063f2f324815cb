## Compression of answers, by zlib; Nim's standard library has none.

import std/[asynchttpserver, parseutils, strutils]

const
  dllName = "libz.so(.1|)"
  # zlib's default.
  defaultLevel = -1'i32
  deflateMethod = 8'i32
  # The largest window, and 16 for gzip's format instead of zlib's own.
  windowBits = 15'i32 + 16'i32
  # zlib's default.
  memoryLevel = 8'i32
  defaultStrategy = 0'i32
  ok = 0'i32
  finish = 4'i32
  streamEnd = 1'i32

type
  Stream = object ## zlib's z_stream.
    nextIn: ptr char
    availIn: cuint
    totalIn: culong
    nextOut: ptr char
    availOut: cuint
    totalOut: culong
    message: cstring
    state, allocate, free, opaque: pointer
    dataType: cint
    checksum: culong
    reserved: culong

proc zlibVersion(): cstring {.cdecl, dynlib: dllName, importc.}
proc deflateInit2(stream: var Stream, level, compression, windowBits, memoryLevel, strategy: cint,
    version: cstring, streamSize: cint): cint {.cdecl, dynlib: dllName, importc: "deflateInit2_".}
proc deflateBound(stream: var Stream, length: culong): culong {.cdecl, dynlib: dllName, importc.}
proc deflate(stream: var Stream, flush: cint): cint {.cdecl, dynlib: dllName, importc.}
proc deflateEnd(stream: var Stream): cint {.cdecl, dynlib: dllName, importc.}

proc acceptsGzip*(request: Request): bool =
  ## Whether Accept-Encoding names gzip, with a weight other than 0.
  for coding in seq[string](request.headers.getOrDefault("Accept-Encoding")):
    let parts = coding.split(';')
    if cmpIgnoreCase(parts[0].strip, "gzip") == 0:
      var weight = 1.0
      for parameter in parts[1 .. ^1]:
        let text = parameter.strip
        if text.startsWith("q="):
          discard parseFloat(text, weight, 2)
      return weight > 0

proc gzip*(text: string): string =
  var stream: Stream
  if deflateInit2(stream, defaultLevel, deflateMethod, windowBits, memoryLevel, defaultStrategy,
      zlibVersion(), cint(sizeof(stream))) != ok:
    raise newException(OSError, "zlib cannot start")
  defer: discard deflateEnd(stream)
  result = newString(int(deflateBound(stream, culong(text.len))))
  stream.nextIn = unsafeAddr text[0]
  stream.availIn = cuint(text.len)
  stream.nextOut = addr result[0]
  stream.availOut = cuint(result.len)
  if deflate(stream, finish) != streamEnd:
    raise newException(OSError, "zlib cannot compress")
  result.setLen(int(stream.totalOut))
