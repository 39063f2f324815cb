"""The views that an event loop can run."""

from . import payload, proxy, users

__all__ = ["payload", "proxy", "users"]
