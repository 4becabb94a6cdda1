"""What a credential for Kafka may hold, as the options of Spark's connector and of librdkafka."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from penstock.errors import SourceRefused

LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# Of the further options those that mean the same to librdkafka; the others are for Spark's connector alone.
SHARED_OPTIONS = (
    "client.dns.lookup",
    "client.id",
    "client.rack",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "sasl.kerberos.service.name",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.password",
)
# What must be redacted wherever options are shown.
SECRET_OPTIONS = ("kafka.sasl.jaas.config", "kafka.ssl.keystore.key", "kafka.ssl.key.password")


@dataclass(frozen=True)
class KafkaCredential:
    bootstrap_servers: str
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, credential: Mapping[str, Any]) -> Self:
        """Check the mapping a file of credentials holds under an alias."""
        known = list(cls.__dataclass_fields__)
        unknown = [str(key) for key in credential if key not in known]
        if unknown:
            raise SourceRefused(f"A credential for Kafka does not know {unknown[0]}. It may hold {', '.join(known)}.")
        servers = credential.get("bootstrap_servers")
        if not servers:
            raise SourceRefused("A credential for Kafka must name its bootstrap_servers, such as 127.0.0.1:9092.")
        joined = servers if isinstance(servers, str) else ",".join(str(server) for server in servers)
        options = {
            str(key).removeprefix("kafka."): str(value) for key, value in (credential.get("options") or {}).items()
        }
        made = cls(**{**credential, "bootstrap_servers": joined, "options": options})
        made._check()
        return made

    def spark_options(self) -> dict[str, str]:
        """For Spark's connector. SECRET_OPTIONS among them are secrets."""
        options = {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.jaas.config": self._jaas(),
            **self._java_tls(),
            **self.options,
        }
        return {f"kafka.{name}": value for name, value in options.items() if value is not None}

    def client_options(self) -> dict[str, str]:
        """For librdkafka."""
        options = {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.username,
            "sasl.password": self.password,
            "ssl.ca.location": self.ca_file,
            "ssl.certificate.location": self.cert_file,
            "ssl.key.location": self.key_file,
            **{name: self.options[name] for name in SHARED_OPTIONS if name in self.options},
        }
        # Java turns the check of the host's name off with an empty word, librdkafka with `none`.
        if options.get("ssl.endpoint.identification.algorithm") == "":
            options["ssl.endpoint.identification.algorithm"] = "none"
        return {name: value for name, value in options.items() if value is not None}

    def _check(self) -> None:
        if self.security_protocol not in PROTOCOLS:
            raise SourceRefused(
                f"A credential for Kafka has security_protocol {self.security_protocol!r}. "
                f"Choose one of {', '.join(PROTOCOLS)}."
            )
        if self.security_protocol.startswith("SASL"):
            self._check_login()

    def _check_login(self) -> None:
        if self.sasl_mechanism not in LOGIN_MODULES and "sasl.jaas.config" not in self.options:
            raise SourceRefused(
                f"A credential for Kafka has sasl_mechanism {self.sasl_mechanism!r}. Choose one of "
                f"{', '.join(LOGIN_MODULES)}, or give sasl.jaas.config under options."
            )
        if self.sasl_mechanism in LOGIN_MODULES and not (self.username and self.password):
            raise SourceRefused(
                f"A credential for Kafka with sasl_mechanism {self.sasl_mechanism} needs a username and a password."
            )

    def _jaas(self) -> str | None:
        if self.sasl_mechanism not in LOGIN_MODULES or self.username is None or self.password is None:
            return None
        module = LOGIN_MODULES[self.sasl_mechanism]
        return f"{module} required username={_quoted(self.username)} password={_quoted(self.password)};"

    def _java_tls(self) -> dict[str, str | None]:
        """PEM, so that one set of files serves both. The key goes in as text: Java wants it joined to the chain."""
        options: dict[str, str | None] = {}
        if self.ca_file is not None:
            options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _text(self.ca_file)}
        if self.cert_file is not None:
            options |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": _text(self.cert_file),
                "ssl.keystore.key": _text(self.key_file or self.cert_file),
            }
        return options


def _text(path: str) -> str:
    try:
        return Path(path).expanduser().read_text()
    except OSError as error:
        raise SourceRefused(f"The TLS files of a credential for Kafka cannot be read: {error}.") from error


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
