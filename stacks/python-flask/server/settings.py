"""The settings, all from the environment."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    processes: int  # one per CPU, because of the GIL
    pool_size: int  # database connections over all processes
    database_url: str | None
    upstream_url: str | None
    blob_path: str | None
    static_dir: str | None

    @classmethod
    def from_env(cls) -> "Settings":
        env = os.environ
        cpus = int(env.get("CPUS") or os.cpu_count() or 1)
        return cls(
            host=env.get("HOST", "127.0.0.1"),
            port=int(env.get("PORT", "8080")),
            processes=min(cpus, int(env.get("MAX_PROCESSES", cpus))),
            pool_size=int(env.get("POOL_SIZE", "16")),
            database_url=env.get("DATABASE_URL"),
            upstream_url=env.get("UPSTREAM_URL"),
            blob_path=env.get("BLOB_PATH"),
            static_dir=env.get("STATIC_DIR"),
        )
