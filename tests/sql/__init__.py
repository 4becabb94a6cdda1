"""What the queue's SQL promises to one caller at a time."""
