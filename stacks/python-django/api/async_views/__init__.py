"""The views that an event loop can run."""

from . import fortunes, items, payload, proxy, users

__all__ = ["fortunes", "items", "payload", "proxy", "users"]
