## Rows of PostgreSQL: read, listed, created, replaced and deleted.

import std/[asyncdispatch, asynchttpserver, json, logging, sequtils, strutils]
from std/unicode import runeLen
import ".."/[app, database, http_error, json_body, parameters, respond, router]

const
  readQuery = "select id, name, price from items where id = $1"
  listQuery = "select id, name, price from items where id > $1 order by id limit $2"
  createQuery = "insert into items (name, price) values ($1, $2) returning id, name, price"
  replaceQuery = "update items set name = $2, price = $3 where id = $1 returning id, name, price"
  deleteQuery = "delete from items where id = $1 returning id, name, price"
  maxId = int(high(int32))
  maxName = 100
  maxPrice = 1_000_000
  maxPage = 100
  defaultPage = 20

type
  Item = object
    id: int
    name: string
    price: int
  Draft = object ## What a client says of an item.
    name: string
    price: int

proc toItem(row: Row): Item =
  Item(id: row[0].parseInt, name: row[1], price: row[2].parseInt)

proc readDraft(node: JsonNode): Draft =
  let (name, price) = (node{"name"}, node{"price"})
  # libpq ends a text at a NUL, and PostgreSQL has none with one.
  if name.isNil or name.kind != JString or name.str.runeLen notin 1 .. maxName or '\0' in name.str:
    raise newHttpError(Http400, "name is a text of 1 to " & $maxName & " characters")
  if price.isNil or price.kind != JInt or price.num notin 0 .. maxPrice:
    raise newHttpError(Http400, "price is a number from 0 to " & $maxPrice)
  Draft(name: name.str, price: int(price.num))

proc itemId(request: Request): string =
  result = request.lastSegment
  if parseNumber(result, 1 .. maxId) < 0:
    raise newHttpError(Http404, "no such item")

proc query(app: App, statement: string, parameters: seq[string]): Future[Rows] {.async.} =
  if app.database.isNil:
    raise newHttpError(Http503, "no DATABASE_URL")
  try:
    result = await app.database.query(statement, parameters)
  except CatchableError as error:
    error("cannot read or write the items: ", error.msg)
    raise newHttpError(Http503, "the database failed")

proc one(app: App, statement: string, parameters: seq[string]): Future[Item] {.async.} =
  let rows = await app.query(statement, parameters)
  if rows[].len == 0:
    raise newHttpError(Http404, "no such item")
  return rows[0].toItem

proc listItems*(app: App, request: Request) {.async.} =
  let
    after = request.number("after", 0 .. maxId, missing = 0)
    limit = request.number("limit", 1 .. maxPage, missing = defaultPage)
  let rows = await app.query(listQuery, @[$after, $limit])
  await request.respondJson(%rows[].map(toItem))

proc readItem*(app: App, request: Request) {.async.} =
  await request.respondJson(%(await app.one(readQuery, @[request.itemId])))

proc createItem*(app: App, request: Request) {.async.} =
  let draft = readDraft(request.jsonBody)
  let item = await app.one(createQuery, @[draft.name, $draft.price])
  await request.respondCreated("/items/" & $item.id, %item)

proc replaceItem*(app: App, request: Request) {.async.} =
  let id = request.itemId
  let draft = readDraft(request.jsonBody)
  await request.respondJson(%(await app.one(replaceQuery, @[id, draft.name, $draft.price])))

proc deleteItem*(app: App, request: Request) {.async.} =
  discard await app.one(deleteQuery, @[request.itemId])
  await request.respondNoContent()
