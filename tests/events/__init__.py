"""The event plane: ticks, cursors, consumers, routes."""
