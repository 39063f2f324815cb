"""A slow upstream, relayed."""

import urllib3
from flask import Blueprint, Response, current_app
from werkzeug.exceptions import BadGateway

KEPT_CONNECTIONS = 1024  # more than there are threads, so that none is thrown away
PATIENCE = urllib3.Timeout(connect=2, read=10)

blueprint = Blueprint("proxy", __name__)


def open_client() -> urllib3.PoolManager:
    return urllib3.PoolManager(
        maxsize=KEPT_CONNECTIONS, timeout=PATIENCE, retries=False
    )


@blueprint.get("/proxy")
def relay() -> Response:
    url = current_app.config["UPSTREAM_URL"]
    if not url:
        raise BadGateway("no UPSTREAM_URL")
    try:
        answer = current_app.extensions["upstream"].request("GET", url)
    except urllib3.exceptions.HTTPError as error:
        current_app.logger.error("the upstream failed: %s", error)
        raise BadGateway from error
    if not 200 <= answer.status < 300:
        raise BadGateway(f"the upstream answered {answer.status}")
    return Response(
        answer.data, content_type=answer.headers.get("content-type", "text/plain")
    )
