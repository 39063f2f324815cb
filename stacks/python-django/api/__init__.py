"""Deadheat's benchmark stack on Django: its only app."""
