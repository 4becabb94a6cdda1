"""A certificate for 127.0.0.1, and the authority that signed it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

_DAYS = "30"


@dataclass(frozen=True)
class Certificates:
    """PEM files; `joined` holds key and certificate in one, as Kafka's broker wants them."""

    ca: Path
    key: Path
    certificate: Path
    joined: Path


def make_certificates(folder: Path) -> Certificates:
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificates(*(folder / name for name in ("ca.pem", "server.key", "server.pem", "joined.pem")))
    ca_key, request, extensions = folder / "ca.key", folder / "server.csr", folder / "server.ext"
    _openssl("req", "-x509", *_new_key(ca_key), "-subj", "/CN=penstock test authority", "-days", _DAYS, "-out", made.ca)
    _openssl("req", *_new_key(made.key), "-subj", "/CN=127.0.0.1", "-out", request)
    extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    signing = ["-CA", made.ca, "-CAkey", ca_key, "-CAcreateserial", "-days", _DAYS, "-extfile", extensions]
    _openssl("x509", "-req", "-in", request, *signing, "-out", made.certificate)
    made.joined.write_text(made.key.read_text() + made.certificate.read_text() + made.ca.read_text())
    return made


def _new_key(path: Path) -> list[object]:
    return ["-newkey", "rsa:2048", "-nodes", "-keyout", path]


def _openssl(*words: object) -> None:
    ran = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
