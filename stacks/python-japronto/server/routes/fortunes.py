"""Rows as a page of HTML."""

from operator import itemgetter

from jinja2 import Environment, PackageLoader

from ..query import fetch
from ..responses import respond

FORTUNES = "select id, message from fortune"

templates = Environment(
    loader=PackageLoader("server"),
    autoescape=True,
    auto_reload=False,  # no template changes while the server runs
)


async def all_fortunes(request):
    fortunes = [dict(row) for row in await fetch(request, FORTUNES)]
    fortunes.append({"id": 0, "message": "Additional fortune added at request time."})
    fortunes.sort(key=itemgetter("message"))
    page = templates.get_template("fortunes.html").render(fortunes=fortunes)
    return respond(request, text=page, mime_type="text/html")
