"""What a process of Spark's finds out on its own host: nothing secret travels in Spark's options."""

from penstock.credentials import Credentials, read_credentials
from penstock.errors import CredentialError
from penstock.settings import read_settings

DATABASE_ALIAS = "penstock_database"


def credentials() -> Credentials:
    """The file PENSTOCK_CREDENTIALS names here."""
    return read_credentials(read_settings().credentials)


def database_url() -> str:
    """PENSTOCK_DATABASE_URL of this host, or `url` of the credential penstock_database."""
    settings = read_settings()
    if settings.database_url is not None:
        return settings.database_url
    url = credentials().get(DATABASE_ALIAS).get("url")
    if not url:
        raise CredentialError(
            f"this host does not know the database: set PENSTOCK_DATABASE_URL, or `url` under {DATABASE_ALIAS} in the "
            "file PENSTOCK_CREDENTIALS names"
        )
    return str(url)
