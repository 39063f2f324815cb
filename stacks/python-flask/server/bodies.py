"""Bodies of JSON."""

from flask import request
from werkzeug.exceptions import BadRequest


def read_json() -> object:
    try:
        return request.get_json()
    except RecursionError as error:
        raise BadRequest("the JSON is nested too deeply") from error
