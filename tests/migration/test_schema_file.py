"""schema.sql says what migrate makes."""

from difflib import unified_diff

from tests.schema_dump import SCHEMA_FILE, generated_schema


def test_the_schema_file_is_what_migrate_makes() -> None:
    kept = SCHEMA_FILE.read_text().splitlines() if SCHEMA_FILE.exists() else []
    difference = list(unified_diff(kept, generated_schema().splitlines(), "schema.sql", "migrate", lineterm=""))
    assert not difference, "schema.sql is stale, run: make schema\n" + "\n".join(difference[:60])
