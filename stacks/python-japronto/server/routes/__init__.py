"""The routes, a module for each subject."""

from japronto import Application

from . import fortunes, greetings, hashing, items, payload, proxy, users


def add_routes(application: Application) -> None:
    add = application.router.add_route
    add("/plaintext", greetings.plaintext, method="GET")
    add("/json", greetings.people, method="GET")
    add("/json", greetings.greet, method="POST")
    add("/bytes", hashing.rounds_of_hashing, method="GET")
    add("/payload", payload.direct, method="GET")
    add("/ping-pong", payload.handed_over, method="GET")
    add("/proxy", proxy.relay, method="GET")
    add("/users", users.first_users, method="GET")
    add("/fortunes", fortunes.all_fortunes, method="GET")
    add("/items", items.list_items, method="GET")
    add("/items", items.create_item, method="POST")
    add("/items/{item_id}", items.read_item, method="GET")
    add("/items/{item_id}", items.replace_item, method="PUT")
    add("/items/{item_id}", items.delete_item, method="DELETE")
