"""Spark: from what a source hands over to rows ready for the commit, in Column expressions only."""
