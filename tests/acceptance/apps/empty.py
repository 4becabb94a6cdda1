"""A module without handlers."""
