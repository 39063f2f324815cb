"""What Litestar lets through, or answers with 500, of bodies that are not JSON."""

from litestar import MediaType, Request, Response
from litestar.exceptions import ClientException
from litestar.exceptions.responses import create_exception_response
from litestar.status_codes import HTTP_415_UNSUPPORTED_MEDIA_TYPE


async def refuse_all_but_json(request: Request) -> None:
    """Litestar would read the body as JSON whatever its content type is."""
    media_type, _ = request.content_type
    if media_type.lower() != MediaType.JSON:
        raise ClientException(
            "the body must be JSON", status_code=HTTP_415_UNSUPPORTED_MEDIA_TYPE
        )


def refuse_malformed_text(request: Request, _: Exception) -> Response:
    """Two errors of the JSON decoder that Litestar would answer with 500."""
    return create_exception_response(request, ClientException("JSON is malformed"))


exception_handlers = {
    UnicodeDecodeError: refuse_malformed_text,
    RecursionError: refuse_malformed_text,
}
