"""Static files, with the conditions that Litestar's own do not know."""

import mimetypes
from pathlib import Path

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.status_codes import HTTP_304_NOT_MODIFIED

from ..settings import get_settings


# It reads a file, so Litestar runs it in a thread and the event loop goes on.
@get("/static/{name:path}", sync_to_thread=True)
def serve(request: Request, name: Path) -> Response[bytes]:
    root = Path(get_settings().static_dir).resolve()
    path = (root / str(name).lstrip("/")).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise NotFoundException
    found = path.stat()
    etag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
    headers = {"ETag": etag}
    if etag in known_by(request):
        return Response(b"", status_code=HTTP_304_NOT_MODIFIED, headers=headers)
    content_type, _ = mimetypes.guess_type(path)
    return Response(path.read_bytes(), media_type=content_type, headers=headers)


def known_by(request: Request) -> list[str]:
    """The ETags that the client has."""
    tags = request.headers.get("If-None-Match", "").split(",")
    return [tag.strip().removeprefix("W/") for tag in tags]
