## Rows from PostgreSQL as an HTML page.

import std/[algorithm, asyncdispatch, asynchttpserver, logging, sequtils, strutils, xmltree]
import ".."/[app, database, http_error, respond]

const allFortunesQuery = "select id, message from fortune"

type Fortune = object
  id: int
  message: string

proc toFortune(row: Row): Fortune =
  Fortune(id: row[0].parseInt, message: row[1])

proc byMessage(a, b: Fortune): int =
  cmp(a.message, b.message)

proc escaped[T](value: T): string =
  ## What the template applies to each value.
  xmltree.escape($value)

include "../templates/fortunes.nimf"

proc sortedFortunes*(app: App, request: Request) {.async.} =
  if app.database.isNil:
    raise newHttpError(Http503, "no DATABASE_URL")
  var rows: Rows
  try:
    rows = await app.database.query(allFortunesQuery)
  except CatchableError as error:
    error("cannot read the fortunes: ", error.msg)
    raise newHttpError(Http503, "the database failed")
  var fortunes = rows[].map(toFortune)
  fortunes.add Fortune(id: 0, message: "Additional fortune added at request time.")
  fortunes.sort(byMessage)
  await request.respondHtml(fortunesPage(fortunes))
