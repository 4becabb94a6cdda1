"""What a message's headers may ask for, in plain Python: the pipeline says the same in Spark Columns."""
