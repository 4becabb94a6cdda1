"""Measurements: `python -m bench` for the table, `python -m bench.soak` for the long runs."""
