## libpq: std/postgres, and what it lacks.

import std/postgres
export postgres

const dllName = "libpq.so(.5|)"

proc pqconnectStartParams*(keywords, values: cstringArray,
    expandDbname: int32): PPGconn {.cdecl, dynlib: dllName,
    importc: "PQconnectStartParams".}
proc pqsendPrepare*(conn: PPGconn, stmtName, query: cstring, nParams: int32,
    paramTypes: POid): int32 {.cdecl, dynlib: dllName, importc: "PQsendPrepare".}
