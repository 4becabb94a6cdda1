"""PostgreSQL: one typed Python function per SQL function. The only importer of psycopg."""
