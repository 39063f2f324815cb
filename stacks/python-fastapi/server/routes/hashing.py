"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from ..settings import get_settings

MAX_ROUNDS = 1_000_000

router = APIRouter()


# Not async: it reads a file and computes, so FastAPI runs it in a thread and the event loop goes on.
@router.get("/bytes", response_class=PlainTextResponse)
def rounds_of_hashing(rounds: Annotated[int, Query(ge=1, le=MAX_ROUNDS)]) -> str:
    digest = sha256(get_settings().blob_path.read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return b64encode(digest).decode()
