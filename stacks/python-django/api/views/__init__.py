"""The views, a module for each subject."""
