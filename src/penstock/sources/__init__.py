"""Where messages come from: one client per file, without Spark."""
