"""Deadheat's benchmark stack on Django: the project."""
