"""Real servers for tests: NATS, Kafka, a Spark cluster. A conftest imports the fixtures it wants."""
