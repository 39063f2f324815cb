"""The application. Each process makes its own."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.requests import ClientDisconnect

from .resources import lifespan
from .routes import (
    fortunes,
    greetings,
    hashing,
    items,
    payload,
    products,
    proxy,
    techempower,
    uploads,
    users,
)
from .settings import get_settings

app = FastAPI(title="Deadheat", lifespan=lifespan)
for module in (
    fortunes,
    greetings,
    hashing,
    items,
    payload,
    products,
    proxy,
    techempower,
    uploads,
    users,
):
    app.include_router(module.router)
app.mount("/static", StaticFiles(directory=get_settings().static_dir, check_dir=False))


@app.exception_handler(RequestValidationError)
async def refuse(_: Request, error: RequestValidationError) -> JSONResponse:
    """Answers 400 instead of FastAPI's 422, without the input, which may hold text that UTF-8 cannot encode."""
    faults = [{"loc": fault["loc"], "msg": fault["msg"]} for fault in error.errors()]
    return JSONResponse({"detail": faults}, status_code=400)


@app.exception_handler(ClientDisconnect)
async def drop(_: Request, __: ClientDisconnect) -> Response:
    """Ends a request whose client has gone before its body was there: not a failure to log."""
    return Response(status_code=400)
