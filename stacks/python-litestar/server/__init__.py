"""Deadheat's benchmark stack on Litestar."""
