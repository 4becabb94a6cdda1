"""Documents into pieces, on Spark: find the boundaries (MARK), then cut there (CUT). Pieces joined are the document."""
