## The files of a folder.

import std/[asyncdispatch, asynchttpserver, mimetypes, os, strutils, times, uri]
import ".."/[app, http_error, respond]

const unknownType = "application/octet-stream"

proc noFile(): ref HttpError =
  newHttpError(Http404, "no such file")

proc filePath(app: App, request: Request): string =
  if app.settings.staticDir == "":
    raise noFile()
  result = app.settings.staticDir
  # The first one is empty, and the second the folder's name in the URL.
  for segment in request.url.path.split('/')[2 .. ^1]:
    let name = decodeUrl(segment, decodePlus = false)
    if name in ["", ".", ".."] or name.contains({'/', '\0'}):
      raise noFile()
    result = result / name

proc entityTag(info: FileInfo): string =
  ## Of the file's time in nanoseconds and its length.
  let modified = info.lastWriteTime
  "\"$1.$2-$3\"" % [$modified.toUnix, $modified.nanosecond, $info.size]

proc hasTag(request: Request, tag: string): bool =
  ## Whether If-None-Match has it, alone or in a list.
  for known in seq[string](request.headers.getOrDefault("If-None-Match")):
    var opaque = known.strip
    opaque.removePrefix("W/")
    if opaque == tag or opaque == "*":
      return true

proc servedFile*(app: App, request: Request) {.async.} =
  let path = app.filePath(request)
  var file: File
  if not file.open(path):
    raise noFile()
  defer: file.close()
  let info = getFileInfo(file)
  if info.kind != pcFile:
    raise noFile()
  let
    tag = entityTag(info)
    headers = headers(app.mimeTypes.getMimetype(path.splitFile.ext, unknownType))
  headers["ETag"] = tag
  if request.hasTag(tag):
    # asynchttpserver would send that of an empty body.
    headers["Content-Length"] = $info.size
    await request.respond(Http304, "", headers)
  else:
    await request.respond(Http200, file.readAll, headers)
