"""The long runs: a snapshot held open under load, and a worker's memory."""
