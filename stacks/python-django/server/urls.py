"""The routes over WSGI."""

from django.urls import path

from api.views import (
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

urlpatterns = [
    path("plaintext", greetings.plaintext),
    path("json", greetings.People.as_view()),
    path("static/<path:name>", files.serve),
    path("products", products.list_products),
    path("upload", uploads.hash_body),
    path("payload", payload.direct),
    path("ping-pong", payload.handed_over),
    path("bytes", hashing.rounds_of_hashing),
    path("users", users.first_users),
    path("fortunes", fortunes.all_fortunes),
    path("items", items.Items.as_view()),
    path("items/<int:item_id>", items.OneItem.as_view(), name="item"),
    path("proxy", proxy.relay),
]

handler400 = "api.errors.bad_request"
handler404 = "api.errors.not_found"
handler500 = "api.errors.server_error"
