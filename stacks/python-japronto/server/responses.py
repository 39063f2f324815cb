"""Responses with the date that Japronto does not send."""

from email.utils import formatdate
from functools import lru_cache
from time import time


def respond(request, headers=None, **content):
    headers = {"Date": http_date(int(time())), **(headers or {})}
    return request.Response(headers=headers, **content)


@lru_cache(maxsize=1)
def http_date(second: int) -> str:
    return formatdate(second, usegmt=True)
