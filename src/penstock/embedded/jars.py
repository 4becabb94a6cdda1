"""Spark's own connector for Kafka, which the pyspark package leaves out."""

from pathlib import Path

from penstock.embedded import maven

SPARK = "4.2.0"
SCALA = "2.13"
CONNECTOR = ("org.apache.spark", f"spark-sql-kafka-0-10_{SCALA}", SPARK)
# The connector asks for its own version of this one, which not every mirror has; 4.0.0 works with it.
TOKEN_PROVIDER = ("org.apache.spark", f"spark-token-provider-kafka-0-10_{SCALA}", "4.0.0")
# Of what the connector depends on Spark has all the rest.
NEEDED = (CONNECTOR[1], TOKEN_PROVIDER[1], "kafka-clients", "commons-pool2", "jsr305")
_POM = maven.pom([CONNECTOR], [TOKEN_PROVIDER])


def kafka_jars(cache: Path) -> list[Path] | str:
    """The files for spark.jars if Maven is here to fetch them, else what to set spark.jars.packages to."""
    if not maven.is_installed():
        return ":".join(CONNECTOR)
    return maven.fetch(_POM, cache, NEEDED)


def cached_jars(cache: Path) -> list[Path]:
    """The same files if they were fetched before; none if not."""
    return sorted(maven.folder_of(_POM, cache, NEEDED).glob("*.jar"))


def spark_options(jars: list[Path] | str) -> dict[str, str]:
    """The same as options of a Spark session."""
    if isinstance(jars, str):
        return {"spark.jars.packages": jars}
    return {"spark.jars": ",".join(str(jar) for jar in jars)}
