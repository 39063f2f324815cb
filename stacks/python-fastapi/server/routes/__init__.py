"""The routes, a module for each subject."""
