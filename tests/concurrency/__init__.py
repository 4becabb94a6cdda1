"""What the queue's locks promise to several sessions at once."""
