## A server thread for each CPU; each has its own event loop, heap, listening socket and part of the pool.

import server/[event_loop, settings]

proc main() =
  let given = readSettings()
  if given.threads == 1:
    serve(given)
  else:
    var threads = newSeq[Thread[Settings]](given.threads)
    for thread in threads.mitems:
      createThread(thread, serve, given)
    joinThreads(threads)

main()
