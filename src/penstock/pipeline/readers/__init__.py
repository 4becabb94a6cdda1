"""Readers: from a source to the envelope's columns. One file for logs read by offset, one for queues that hand out."""
