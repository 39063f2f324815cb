## Rows from PostgreSQL.

import std/[asyncdispatch, asynchttpserver, json, logging, sequtils, strutils]
import ".."/[app, database, http_error, respond]

const firstUsersQuery = "select id, email from users order by id limit 10"

type User = object
  id: int
  email: string

proc toUser(row: Row): User =
  User(id: row[0].parseInt, email: row[1])

proc firstUsers*(app: App, request: Request) {.async.} =
  if app.database.isNil:
    raise newHttpError(Http503, "no DATABASE_URL")
  var rows: Rows
  try:
    rows = await app.database.query(firstUsersQuery)
  except CatchableError as error:
    error("cannot read the users: ", error.msg)
    raise newHttpError(Http503, "the database failed")
  await request.respondJson(%rows[].map(toUser))
