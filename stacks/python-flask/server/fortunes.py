"""A page of HTML with rows from PostgreSQL."""

from operator import itemgetter

from flask import Blueprint, render_template

from .database import fetch_all

FORTUNES = "select id, message from fortune"

blueprint = Blueprint("fortunes", __name__)


@blueprint.get("/fortunes")
def all_fortunes() -> str:
    added = {"id": 0, "message": "Additional fortune added at request time."}
    fortunes = sorted([*fetch_all(FORTUNES), added], key=itemgetter("message"))
    return render_template("fortunes.html", fortunes=fortunes)
