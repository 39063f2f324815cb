"""Bodies of JSON."""

import json

from .errors import BadRequest, UnsupportedMediaType


def read_json(request) -> object:
    if (request.mime_type or "").lower() != "application/json":
        raise UnsupportedMediaType("application/json, please")
    try:
        return json.loads(request.body or b"", parse_constant=refuse)
    except (ValueError, RecursionError):
        raise BadRequest("JSON, please") from None


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)
