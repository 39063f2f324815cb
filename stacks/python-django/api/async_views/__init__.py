"""The views that an event loop can run."""

from . import fortunes, payload, proxy, users

__all__ = ["fortunes", "payload", "proxy", "users"]
