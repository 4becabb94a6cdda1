"""penstock catalog, penstock validate"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from penstock.catalog.entry import Entry, read_file, spec_of
from penstock.catalog.playbook import PlaybookSpec
from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.cli.playbook_graph import mermaid, picture
from penstock.credentials import read_credentials
from penstock.kernel import catalog
from penstock.kernel.registration import Registered, register
from penstock.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="The catalog: playbooks and subscriptions, by path and version.")

Files = Annotated[list[Path], typer.Argument(help="YAML files; each may hold several documents.", metavar="FILE")]
CatalogPath = Annotated[str, typer.Argument(help="The entry's path.", metavar="PATH")]


def validate_command(files: Files, json: AsJson = False) -> None:
    """Check catalog files for themselves, without a database: every problem with its line.

    Example: penstock validate orders.yaml
    """
    entries = read_files(files)
    if json:
        show_json([{"path": one.path, "kind": one.kind, "unused": one.unused} for one in entries])
        return
    for one in entries:
        typer.echo(cell(f"{one.kind} {one.path} is right"))
        _say_unused(one.unused)


@app.command("register")
def register_command(files: Files, actor: Actor = None, json: AsJson = False) -> None:
    """Put the entries of these files into the catalog: all of them, or none. The same file again changes nothing.

    Example: penstock catalog register playbooks.yaml orders.yaml
    """
    show_registered(register_files(files, actor), json)


@app.command("list")
def list_command(
    kind: Annotated[Literal["Playbook", "Subscription"] | None, typer.Option(help="Only these.")] = None,
    json: AsJson = False,
) -> None:
    """Show every entry at its newest version.

    Example: penstock catalog list --kind Playbook
    """
    with opened("catalog") as connection:
        entries = catalog.entries(connection, kind)
    if json:
        show_json([{"path": one.path, "kind": one.kind, "version": one.version} for one in entries])
        return
    show_table(
        ("path", "kind", "version", "registered", "by"),
        [(one.path, one.kind, one.version, one.registered_at, one.registered_by) for one in entries],
        empty="the catalog is empty: penstock catalog register FILE",
    )


@app.command("show")
def show_command(
    path: CatalogPath,
    version: Annotated[int | None, typer.Option(min=1, help="The newest if left out.")] = None,
    as_mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print only the graph of a playbook, for a Markdown page.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show one entry: when it came, a playbook's graph, and the text it was registered with.

    Example: penstock catalog show domain/process_order --version 2
    """
    with opened("catalog") as connection:
        one = catalog.entry(connection, path, version)
    if json:
        show_json(one)
        return
    spec = spec_of(one.kind, one.content)
    if as_mermaid:
        if not isinstance(spec, PlaybookSpec):
            raise typer.BadParameter(f"{path} is a {one.kind}: only playbooks have a graph", param_hint="--mermaid")
        typer.echo(mermaid(spec))
        return
    show_facts(
        {
            "path": one.path,
            "kind": one.kind,
            "version": one.version,
            "registered": one.registered_at,
            "by": one.registered_by,
        }
    )
    if isinstance(spec, PlaybookSpec):
        show_heading("graph")
        typer.echo(picture(spec))
    show_heading("text")
    typer.echo(one.source.rstrip("\n"))


def register_files(files: list[Path], actor: str | None) -> list[Registered]:
    """Read, check and register; nothing is half done."""
    entries = read_files(files)
    credentials = read_credentials(read_settings().credentials)
    with opened("catalog") as connection:
        return register(connection, entries, credentials, actor)


def show_registered(made: list[Registered], json: bool) -> None:
    if json:
        show_json(made)
        return
    for one in made:
        typer.echo(cell(f"{one.path} is version {one.version}" + ("" if one.created else ", as before")))
        _say_unused(one.unused)


def read_files(files: list[Path]) -> list[Entry]:
    """Every entry of these files."""
    return [entry for file in files for entry in read_file(file)]


def _say_unused(unused: tuple[str, ...]) -> None:
    if unused:
        typer.echo(cell(f"  not used yet: {', '.join(unused)}"))
