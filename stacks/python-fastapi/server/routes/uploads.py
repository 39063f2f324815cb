"""Bodies that are hashed as they come."""

from base64 import b64encode
from hashlib import sha256

from fastapi import APIRouter, HTTPException, Request, status
from fastapi.responses import PlainTextResponse

MAX_BYTES = 16 * 1024 * 1024

router = APIRouter()


@router.post("/upload", response_class=PlainTextResponse)
async def hash_body(request: Request) -> str:
    digest = sha256()
    length = 0
    async for chunk in request.stream():
        length += len(chunk)
        if length > MAX_BYTES:
            raise HTTPException(status.HTTP_413_CONTENT_TOO_LARGE)
        digest.update(chunk)
    return b64encode(digest.digest()).decode()
