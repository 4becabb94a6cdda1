"""What Prometheus would read of a process."""

from urllib.request import urlopen


def scraped(port: int) -> dict[str, float]:
    """Every sample over HTTP, by its name with its labels as they are written: `name{a="1",b="2"}`."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}
