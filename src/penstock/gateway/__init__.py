"""The HTTP API: tokens in front, the kernel's functions behind."""
