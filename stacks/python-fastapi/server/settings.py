"""The settings, all from the environment."""

import os
from functools import lru_cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings


class Settings(BaseSettings):
    host: str = "127.0.0.1"
    port: int = 8080
    cpus: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    max_processes: int | None = Field(default=None, ge=1)
    pool_size: int = Field(default=16, ge=1)  # connections over all processes
    database_url: str | None = None
    upstream_url: str | None = None
    blob_path: Path = Path("blob.bin")
    static_dir: Path = Path("static")

    @property
    def workers(self) -> int:
        """One process per CPU, because of the GIL."""
        return min(self.cpus, self.max_processes or self.cpus)

    @property
    def pool_size_per_worker(self) -> int:
        return max(1, self.pool_size // self.workers)


@lru_cache
def get_settings() -> Settings:
    return Settings()
