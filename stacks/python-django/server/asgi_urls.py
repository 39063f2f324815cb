"""The routes over ASGI."""

from django.urls import path

from api import async_views
from api.async_views.adapter import without_thread
from api.views import files, greetings, hashing, payload, products, uploads

from .urls import handler400, handler404, handler500

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]

urlpatterns = [
    path("plaintext", without_thread(greetings.plaintext)),
    path("json", without_thread(greetings.People.as_view())),
    path("static/<path:name>", files.serve),
    path("products", without_thread(products.list_products)),
    path("upload", uploads.hash_body),
    path("payload", without_thread(payload.direct)),
    path("ping-pong", async_views.payload.handed_over),
    # It reads a file and computes. Django runs it in a thread, because it is not async.
    path("bytes", hashing.rounds_of_hashing),
    path("users", async_views.users.first_users),
    path("fortunes", async_views.fortunes.all_fortunes),
    path("items", async_views.items.Items.as_view()),
    path("items/<int:item_id>", async_views.items.OneItem.as_view(), name="item"),
    path("proxy", async_views.proxy.relay),
]
