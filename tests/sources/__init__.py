"""Source clients against real servers; conformance.py is what every one of them must pass."""
