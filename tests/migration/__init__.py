"""How a database comes to this version of the schema."""
