"""Static files, with the ETags and conditions of Django's decorators."""

import mimetypes
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils._os import safe_join
from django.views.decorators.http import condition, require_safe


def path_of(name: str) -> Path:
    path = Path(safe_join(settings.STATIC_DIR, name))
    if not path.is_file():
        raise Http404
    return path


def etag(_: HttpRequest, name: str) -> str:
    found = path_of(name).stat()
    return f'"{found.st_mtime_ns:x}-{found.st_size:x}"'


@require_safe
@condition(etag_func=etag)
def serve(_: HttpRequest, name: str) -> HttpResponse:
    path = path_of(name)
    content_type, _ = mimetypes.guess_type(path)
    return HttpResponse(path.read_bytes(), content_type=content_type)
