"""Bodies that are hashed as they come."""

from base64 import b64encode
from hashlib import sha256

from litestar import MediaType, Request, post
from litestar.status_codes import HTTP_200_OK

MAX_BYTES = 16 * 1024 * 1024


@post(
    "/upload",
    media_type=MediaType.TEXT,
    request_max_body_size=MAX_BYTES,
    status_code=HTTP_200_OK,
)
async def hash_body(request: Request) -> str:
    digest = sha256()
    async for chunk in request.stream():
        digest.update(chunk)
    return b64encode(digest.digest()).decode()
