"""Deadheat's benchmark stack on FastAPI."""
