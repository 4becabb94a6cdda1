"""penstock demo: jobs of several kinds through two real workers, and what became of them."""
