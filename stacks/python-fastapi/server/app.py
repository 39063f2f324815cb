"""The application, made once in each process."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from .resources import lifespan
from .routes import greetings, hashing, payload, proxy, users

app = FastAPI(title="Deadheat", lifespan=lifespan)
for module in (greetings, hashing, payload, proxy, users):
    app.include_router(module.router)


@app.exception_handler(RequestValidationError)
async def refuse(_: Request, error: RequestValidationError) -> JSONResponse:
    """400 where FastAPI would say 422. The input is not sent back: it may hold what UTF-8 cannot."""
    faults = [{"loc": fault["loc"], "msg": fault["msg"]} for fault in error.errors()]
    return JSONResponse({"detail": faults}, status_code=400)
