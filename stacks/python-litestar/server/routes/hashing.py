"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from litestar import MediaType, get
from litestar.params import Parameter

from ..settings import get_settings

MAX_ROUNDS = 1_000_000


# It reads a file and computes, so Litestar runs it in a thread and the event loop goes on.
@get("/bytes", media_type=MediaType.TEXT, sync_to_thread=True)
def rounds_of_hashing(
    rounds: Annotated[int, Parameter(ge=1, le=MAX_ROUNDS)],
) -> str:
    digest = sha256(Path(get_settings().blob_path).read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return b64encode(digest).decode()
