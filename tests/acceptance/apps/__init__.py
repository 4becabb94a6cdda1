"""Handler modules for real workers, which are started in the project's folder."""
