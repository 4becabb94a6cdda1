"""The process that claims jobs, runs their handlers and reports how they ended."""
