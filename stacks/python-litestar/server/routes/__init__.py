"""The routes, a module for each subject."""

from . import (
    files,
    fortunes,
    greetings,
    hashing,
    items,
    payload,
    products,
    proxy,
    uploads,
    users,
)

handlers = [
    greetings.plaintext,
    greetings.people,
    greetings.greet,
    files.serve,
    products.list_products,
    uploads.hash_body,
    payload.direct,
    payload.handed_over,
    hashing.rounds_of_hashing,
    users.first_users,
    fortunes.all_fortunes,
    items.ItemController,
    proxy.relay,
]
