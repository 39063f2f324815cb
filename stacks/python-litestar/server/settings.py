"""The settings, all from the environment."""

import os
from functools import cache
from typing import Annotated

import msgspec
from msgspec import Meta

AtLeastOne = Annotated[int, Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True):
    host: str = "127.0.0.1"
    port: int = 8080
    cpus: AtLeastOne = os.cpu_count() or 1
    max_processes: AtLeastOne | None = None
    pool_size: AtLeastOne = 16  # connections over all processes
    database_url: str | None = None
    upstream_url: str | None = None
    blob_path: str = "blob.bin"
    static_dir: str = "static"

    @property
    def workers(self) -> int:
        """One process per CPU, because of the GIL."""
        return min(self.cpus, self.max_processes or self.cpus)

    @property
    def pool_size_per_worker(self) -> int:
        return max(1, self.pool_size // self.workers)


@cache
def get_settings() -> Settings:
    environment = {name.lower(): value for name, value in os.environ.items()}
    return msgspec.convert(environment, Settings, strict=False)
