"""What the environment says, for Django's settings and for the servers in front of it."""

import os

HOST = os.environ.get("HOST", "127.0.0.1")
PORT = int(os.environ.get("PORT", "8080"))
CPUS = int(os.environ.get("CPUS") or os.cpu_count() or 1)
POOL_SIZE = int(os.environ.get("POOL_SIZE", "16"))  # connections over all processes

# One process per CPU, because of the GIL.
WORKERS = min(CPUS, int(os.environ.get("MAX_PROCESSES", CPUS)))
POOL_SIZE_PER_WORKER = max(1, POOL_SIZE // WORKERS)
