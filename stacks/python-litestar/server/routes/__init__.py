"""The routes, a module for each subject."""

from . import fortunes, greetings, hashing, items, payload, proxy, users

handlers = [
    greetings.plaintext,
    greetings.people,
    greetings.greet,
    payload.direct,
    payload.handed_over,
    hashing.rounds_of_hashing,
    users.first_users,
    fortunes.all_fortunes,
    items.ItemController,
    proxy.relay,
]
