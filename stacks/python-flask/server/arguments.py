"""Numbers in a query."""

from flask import request
from werkzeug.exceptions import BadRequest


def read_integer(name: str, least: int, most: int, default: str = "") -> int:
    text = request.args.get(name, default)
    # int() alone would also read "1_000", " 5" and digits of other scripts.
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)):
        number = int(text)
        if least <= number <= most:
            return number
    raise BadRequest(f"{name} must be a number from {least} to {most}")
