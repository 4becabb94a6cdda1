"""What a user sees: the installed command as real processes against a real server."""
