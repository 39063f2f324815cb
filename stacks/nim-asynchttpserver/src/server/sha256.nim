## SHA-256 by OpenSSL; Nim's standard library has none.

type Digest* = array[32, byte]

proc sha256(data: pointer, length: csize_t, digest: ptr byte): ptr byte {.cdecl,
    dynlib: "libcrypto.so(.3|.1.1|)", importc: "SHA256".}

proc sha256*(data: openArray[byte]): Digest =
  discard sha256(unsafeAddr data[0], csize_t(data.len), addr result[0])

proc sha256*(data: string): Digest =
  discard sha256(unsafeAddr data[0], csize_t(data.len), addr result[0])
