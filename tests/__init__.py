"""The tests: a package, so that they can share what they need and `python -m tests.schema_dump` runs."""
