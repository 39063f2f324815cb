"""Japronto's application, with what 0.1.2 has no settings or hooks for."""

import asyncio
from contextlib import suppress

import uvloop
from japronto import Application, RouteNotFoundException

from .errors import HttpError
from .resources import Resources
from .responses import respond
from .settings import Settings

BACKLOG = 2048
DRAINED_WITHIN_SECONDS = 0.5


class Loop(uvloop.Loop):
    """Listens with a longer queue: Japronto takes the default of 100, too short for 400 clients at once."""

    def create_server(self, *args, backlog: int = BACKLOG, **kwargs):
        return super().create_server(*args, backlog=backlog, **kwargs)


class Server(Application):
    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.add_error_handler(HttpError, answer_error)
        self.add_error_handler(RouteNotFoundException, answer_not_found)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        if not self._loop:
            self._loop = Loop()
        return self._loop

    def serve(self, **kwargs) -> None:
        """Runs in each worker process. Connections must not be made before the fork, so they are made here."""
        asyncio.set_event_loop(self.loop)
        self.resources = self.loop.run_until_complete(Resources.open(self.settings))
        super().serve(**kwargs)

    async def drain(self) -> None:
        """Japronto would wait for requests under way, five seconds at most."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(super().drain(), DRAINED_WITHIN_SECONDS)
        await self.resources.close()


def answer_error(request, error: HttpError):
    return respond(request, code=error.code, text=str(error))


def answer_not_found(request, error: RouteNotFoundException):
    return respond(request, code=404, text="Not Found")
