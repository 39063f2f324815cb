## A pool of connections to PostgreSQL, which are made when they are needed.

import std/[asyncdispatch, deques]
import connection

export DatabaseError, Row, Rows

type
  Pool* = ref object
    url: string
    size: int
    open: int
    idle: seq[Connection]
    waiting: Deque[Future[Connection]]

proc newPool*(url: string, size: int): Pool =
  Pool(url: url, size: size)

proc release(pool: Pool, connection: Connection) =
  if pool.waiting.len > 0:
    pool.waiting.popFirst().complete(connection)
  else:
    pool.idle.add connection

proc grow(pool: Pool) {.async.} =
  ## Connects for those who wait; a failure is told to the first of them, so that none waits for
  ## nothing.
  inc pool.open
  try:
    pool.release(await connect(pool.url))
  except CatchableError as error:
    dec pool.open
    if pool.waiting.len > 0:
      pool.waiting.popFirst().fail(error)
    if pool.waiting.len > 0 and pool.open == 0:
      await pool.grow()

proc takeIdle(pool: Pool): Connection =
  ## nil if there is none that lives.
  while pool.idle.len > 0:
    let connection = pool.idle.pop()
    if connection.isAlive:
      return connection
    connection.close()
    dec pool.open

proc acquire(pool: Pool): Future[Connection] =
  result = newFuture[Connection]("acquire")
  let connection = pool.takeIdle()
  if not connection.isNil:
    result.complete(connection)
    return
  pool.waiting.addLast(result)
  if pool.open < pool.size:
    asyncCheck pool.grow()

proc discardBroken(pool: Pool, connection: Connection) =
  connection.close()
  dec pool.open
  if pool.waiting.len > 0:
    asyncCheck pool.grow()

proc query*(pool: Pool, statement: string, parameters: seq[string] = @[]): Future[Rows] {.
    async.} =
  let connection = await pool.acquire()
  try:
    result = await connection.query(statement, parameters)
  except CatchableError:
    pool.discardBroken(connection)
    raise
  pool.release(connection)
