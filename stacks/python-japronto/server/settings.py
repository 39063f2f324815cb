"""The settings, all from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    cpus: int
    max_processes: int
    pool_size: int  # database connections over all processes; 0: one for each request
    database_url: str | None
    upstream_url: str | None
    blob_path: str | None

    @classmethod
    def from_env(cls) -> Settings:
        env = os.environ
        cpus = int(env.get("CPUS") or os.cpu_count() or 1)
        return cls(
            host=env.get("HOST", "127.0.0.1"),
            port=int(env.get("PORT", "8080")),
            cpus=cpus,
            max_processes=int(env.get("MAX_PROCESSES", cpus)),
            pool_size=int(env.get("POOL_SIZE", "16")),
            database_url=env.get("DATABASE_URL"),
            upstream_url=env.get("UPSTREAM_URL"),
            blob_path=env.get("BLOB_PATH"),
        )

    @property
    def workers(self) -> int:
        """One process per CPU, because of the GIL. The limit is for those that share a pool."""
        return min(self.cpus, self.max_processes) if self.pool_size else self.cpus

    @property
    def pool_size_per_worker(self) -> int:
        return max(1, self.pool_size // self.workers)
