"""The routes, a module for each subject."""

from . import greetings, hashing, payload, proxy, users

handlers = [
    greetings.plaintext,
    greetings.people,
    greetings.greet,
    payload.direct,
    payload.handed_over,
    hashing.rounds_of_hashing,
    users.first_users,
    proxy.relay,
]
