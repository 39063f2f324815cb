## Products that are computed, as JSON that is compressed.

import std/[asyncdispatch, asynchttpserver, json]
import ".."/[app, parameters, respond]

const
  maxFrom = 1_000_000
  perPage = 100
  categories = ["books", "garden", "kitchen", "music", "tools"]

type Product = object
  id: int
  name, category: string
  price, stock: int

proc newProduct(id: int): Product =
  Product(
    id: id,
    name: "Product " & $id,
    category: categories[id mod categories.len],
    price: id * 37 mod 10_007,
    stock: id * 31 mod 101)

proc listProducts*(app: App, request: Request) {.async.} =
  let first = request.number("from", 1 .. maxFrom)
  var products: seq[Product]
  for id in first ..< first + perPage:
    products.add newProduct(id)
  await request.respondCompressed(%products)
