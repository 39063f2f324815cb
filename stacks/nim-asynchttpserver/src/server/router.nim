## Finds the handler of a request, and answers what handlers raise.

import std/[asyncdispatch, asynchttpserver, logging, strutils, tables]
import app, http_error, respond

type
  Handler* = proc (app: App, request: Request): Future[void] {.nimcall, gcsafe.}
  Router* = ref object
    routes: Table[string, Table[HttpMethod, Handler]]

proc newRouter*(): Router = Router()

proc add*(router: Router, httpMethod: HttpMethod, path: string,
    handler: Handler) =
  router.routes.mgetOrPut(path, initTable[HttpMethod, Handler]())[
      httpMethod] = handler

proc lastSegment*(request: Request): string =
  request.url.path.rsplit('/', maxsplit = 1)[^1]

proc route(router: Router, request: Request): string =
  ## The path as it was added: this one, or one with an asterisk for its last segment, or one with
  ## two for all after the first.
  result = request.url.path
  if result notin router.routes:
    result.removeSuffix(request.lastSegment)
    result.add '*'
  if result notin router.routes:
    let segments = request.url.path.split('/', maxsplit = 2)
    if segments.len > 2:
      result = "/" & segments[1] & "/**"

proc find(router: Router, request: Request): Handler =
  let route = router.route(request)
  if route notin router.routes:
    raise newHttpError(Http404, "not found")
  if request.reqMethod notin router.routes[route]:
    raise newHttpError(Http405, "method not allowed")
  router.routes[route][request.reqMethod]

proc allowed(router: Router, request: Request): string =
  var methods: seq[string]
  for httpMethod in router.routes[router.route(request)].keys:
    methods.add $httpMethod
  methods.join(", ")

proc answer*(router: Router, app: App, request: Request) {.async.} =
  var failure: ref HttpError
  try:
    await router.find(request)(app, request)
    return
  except HttpError as error:
    failure = error
  except CatchableError as error:
    # getStackTrace is empty in a release build; the message says what failed.
    error(request.url.path, ": ", error.msg)
    failure = newHttpError(Http500, "internal server error")
  let headers = headers("text/plain")
  if failure.code == Http405:
    headers["Allow"] = router.allowed(request)
  await request.respond(failure.code, failure.msg, headers)
