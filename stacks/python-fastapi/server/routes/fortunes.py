"""Rows as a page of HTML."""

from operator import itemgetter
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates

from ..query import fetch
from ..resources import Database

FORTUNES = "select id, message from fortune"

templates = Jinja2Templates(Path(__file__).parent.parent / "templates")
templates.env.auto_reload = False  # no template changes while the server runs

router = APIRouter()


@router.get("/fortunes")
async def all_fortunes(request: Request, database: Database) -> HTMLResponse:
    fortunes = [dict(row) for row in await fetch(database, FORTUNES)]
    fortunes.append({"id": 0, "message": "Additional fortune added at request time."})
    fortunes.sort(key=itemgetter("message"))
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": fortunes})
