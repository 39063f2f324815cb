"""Bodies of JSON, which Django itself does not read."""

import json

from django.core.exceptions import BadRequest


def json_in(body: bytes) -> object:
    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise BadRequest("no JSON") from error


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)


def is_unicode(text: str) -> bool:
    """False for lone surrogates, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
