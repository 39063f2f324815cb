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
  Connection* = ref object
    handle: PPGconn
    fd: AsyncFD
    prepared: Table[string, string] ## The names of statements.

proc failure(handle: PPGconn): ref DatabaseError =
  newException(DatabaseError, $pqerrorMessage(handle))

proc readable(fd: AsyncFD): Future[void] =
  let ready = newFuture[void]("readable")
  addRead(fd, proc (fd: AsyncFD): bool =
    ready.complete()
    true)
  ready

proc writable(fd: AsyncFD): Future[void] =
  let ready = newFuture[void]("writable")
  addWrite(fd, proc (fd: AsyncFD): bool =
    ready.complete()
    true)
  ready

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
    # libpq may go on over another socket, so that each wait is for the present one.
    let fd = AsyncFD(pqsocket(handle))
    register(fd)
    try:
      if state == PGRES_POLLING_READING: await readable(fd)
      else: await writable(fd)
    finally:
      unregister(fd)
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
  result = Connection(handle: handle, fd: AsyncFD(pqsocket(handle)))
  register(result.fd)

proc close*(connection: Connection) =
  unregister(connection.fd)
  pqfinish(connection.handle)

proc nextResult(connection: Connection): Future[PPGresult] {.async.} =
  while pqisBusy(connection.handle) == 1:
    await readable(connection.fd)
    if pqconsumeInput(connection.handle) == 0:
      raise failure(connection.handle)
  return pqgetResult(connection.handle)

proc rows(outcome: PPGresult): seq[Row] =
  for i in 0'i32 ..< pqntuples(outcome):
    var row: Row
    for j in 0'i32 ..< pqnfields(outcome):
      row.add $pqgetvalue(outcome, i, j)
    result.add row

proc finish(connection: Connection, sent: int32): Future[seq[Row]] {.async.} =
  ## Writes what was sent and reads all its results.
  if sent == 0:
    raise failure(connection.handle)
  while (let unsent = pqflush(connection.handle); unsent != 0):
    if unsent < 0:
      raise failure(connection.handle)
    await writable(connection.fd)
  while (let outcome = await connection.nextResult(); not outcome.isNil):
    defer: pqclear(outcome)
    if pqresultStatus(outcome) notin {PGRES_COMMAND_OK, PGRES_TUPLES_OK}:
      raise newException(DatabaseError, $pqresultErrorMessage(outcome))
    result.add rows(outcome)

proc query*(connection: Connection, statement: string): Future[seq[
    Row]] {.async.} =
  ## The rows of a statement, which is prepared when it is first seen.
  if statement notin connection.prepared:
    let name = "s" & $connection.prepared.len
    discard await connection.finish(pqsendPrepare(connection.handle, name.cstring,
        statement.cstring, 0, nil))
    connection.prepared[statement] = name
  return await connection.finish(pqsendQueryPrepared(connection.handle,
      connection.prepared[statement].cstring, 0, nil, nil, nil, textFormat))
