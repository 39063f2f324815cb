## A connection to PostgreSQL that never blocks: libpq's asynchronous calls on the event loop.

import std/[asyncdispatch, tables]
import libpq

const
  textFormat = 0'i32
  parameters = {
    # A query that hangs, or a server that is gone, must not hold a connection for ever.
    "options": "-c statement_timeout=5s",
    "tcp_user_timeout": "5000",
    "application_name": "nim-asynchttpserver"}

type
  DatabaseError* = object of CatchableError
  Row* = seq[string]
  Rows* = ref seq[Row] ## By reference, because a future copies what it is completed with.
  Connection* = ref object
    handle: PPGconn
    prepared: Table[string, string] ## The names of statements.

proc failure(handle: PPGconn): ref DatabaseError =
  newException(DatabaseError, $pqerrorMessage(handle))

proc ready(handle: PPGconn, toRead: bool): Future[void] {.async.} =
  ## Waits until libpq's socket can be read or written. It is registered for no longer than that,
  ## because libpq may close it in any call, and its number may then be another connection's.
  let
    fd = AsyncFD(pqsocket(handle))
    occurred = newFuture[void]("ready")
  proc occur(fd: AsyncFD): bool =
    occurred.complete()
    true
  register(fd)
  if toRead: addRead(fd, occur)
  else: addWrite(fd, occur)
  try:
    await occurred
  finally:
    unregister(fd)

proc start(url: string): PPGconn =
  var keywords = @["dbname"]
  var values = @[url]
  for (keyword, value) in parameters:
    keywords.add keyword
    values.add value
  let
    keywordArray = allocCStringArray(keywords)
    valueArray = allocCStringArray(values)
  defer:
    deallocCStringArray(keywordArray)
    deallocCStringArray(valueArray)
  pqconnectStartParams(keywordArray, valueArray, 1)

proc establish(handle: PPGconn) {.async.} =
  if handle.isNil or pqstatus(handle) == CONNECTION_BAD:
    raise failure(handle)
  var state = PGRES_POLLING_WRITING
  while state != PGRES_POLLING_OK:
    await ready(handle, toRead = state == PGRES_POLLING_READING)
    state = pqconnectPoll(handle)
    if state == PGRES_POLLING_FAILED:
      raise failure(handle)
  if pqsetnonblocking(handle, 1) != 0:
    raise failure(handle)

proc connect*(url: string): Future[Connection] {.async.} =
  let handle = start(url)
  try:
    await establish(handle)
  except CatchableError:
    pqfinish(handle)
    raise
  return Connection(handle: handle)

proc close*(connection: Connection) =
  pqfinish(connection.handle)

proc isAlive*(connection: Connection): bool =
  ## Whether the server has not closed it, for one that was idle. The first call reads what the
  ## server said last, the second finds that it has closed.
  let handle = connection.handle
  pqconsumeInput(handle) == 1 and pqconsumeInput(handle) == 1 and pqstatus(handle) == CONNECTION_OK

proc nextResult(connection: Connection): Future[PPGresult] {.async.} =
  while pqisBusy(connection.handle) == 1:
    await ready(connection.handle, toRead = true)
    if pqconsumeInput(connection.handle) == 0:
      raise failure(connection.handle)
  return pqgetResult(connection.handle)

proc add(rows: Rows, outcome: PPGresult) =
  for i in 0'i32 ..< pqntuples(outcome):
    rows[].add newSeqOfCap[string](pqnfields(outcome))
    for j in 0'i32 ..< pqnfields(outcome):
      rows[^1].add $pqgetvalue(outcome, i, j)

proc finish(connection: Connection, sent: int32): Future[Rows] {.async.} =
  ## Writes what was sent and reads all its results.
  let rows = new Rows
  if sent == 0:
    raise failure(connection.handle)
  while (let unsent = pqflush(connection.handle); unsent != 0):
    if unsent < 0:
      raise failure(connection.handle)
    await ready(connection.handle, toRead = false)
  while (let outcome = await connection.nextResult(); not outcome.isNil):
    defer: pqclear(outcome)
    if pqresultStatus(outcome) notin {PGRES_COMMAND_OK, PGRES_TUPLES_OK}:
      raise newException(DatabaseError, $pqresultErrorMessage(outcome))
    rows.add outcome
  return rows

proc execute(connection: Connection, name: string, parameters: seq[string]): int32 =
  let values = allocCStringArray(parameters)
  defer: deallocCStringArray(values)
  pqsendQueryPrepared(connection.handle, name.cstring, int32(parameters.len), values, nil, nil,
      textFormat)

proc query*(connection: Connection, statement: string, parameters: seq[string]): Future[
    Rows] {.async.} =
  ## The rows of a statement, which is prepared when it is first seen.
  if statement notin connection.prepared:
    let name = "s" & $connection.prepared.len
    discard await connection.finish(pqsendPrepare(connection.handle, name.cstring,
        statement.cstring, 0, nil))
    connection.prepared[statement] = name
  return await connection.finish(connection.execute(connection.prepared[statement], parameters))
