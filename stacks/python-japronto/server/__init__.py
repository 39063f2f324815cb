"""Deadheat's benchmark stack on Japronto."""
