"""`recallbench systems`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console

if TYPE_CHECKING:
    from harness.adapters.registry import AdapterInfo

_KINDS = {
    "control": "Controls: the bounds of every table (--controls)",
    "cheater": "Cheaters: none of them may pass (--cheaters)",
    "strategy": "Strategies: a model writes the memory and reads it back",
    "retrieval": "Retrieval memories, without a model",
    "connector": "Connectors to real systems",
    "own": "From installed packages",
}


@click.command("systems")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, options included.")
@click.option("--check", metavar="SPEC", help="Run the conformance kit on a system.")
def command(name: str | None, as_json: bool, check: str | None) -> int:
    """List the memory systems that --system takes, or the options of one."""
    from harness.adapters.registry import available_adapters, find_adapter
    from harness.naming import parse_spec

    if check is not None:
        return _check(check)
    if name is not None:
        _one(find_adapter(parse_spec(name, "--system")))
        return 0
    known = available_adapters()
    if as_json:
        for info in known:
            click.echo(json.dumps({**info._asdict(), "installed": info.installed, "options": _options(info)}))
        return 0
    widest = max(len(info.name) for info in known)
    for kind, title in _KINDS.items():
        infos = [info for info in known if info.kind == kind]
        if not infos:
            continue
        click.echo(title)
        for info in infos:
            needs = "" if info.installed else f"  [needs: pip install 'recallbench[{info.extra}]']"
            click.echo(f"  {info.name:<{widest}}  {info.summary}{needs}")
        click.echo()
    console.say(
        "A system of your own: --system your_module:YourMemory, or an entry point recallbench.adapters; "
        "`recallbench init adapter NAME` writes the beginnings of one. Options: recallbench systems NAME."
    )
    return 0


def _one(info: AdapterInfo) -> None:
    click.echo(f"{info.name}: {info.summary}  [{info.kind}, {info.source}]")
    options = _options(info)
    if not options:
        click.echo("It has no options.")
        return
    click.echo(f'\nOptions, as in --system "{info.name}({next(iter(options))}=…)":')
    widest = max(map(len, options))
    for name, field in options.items():
        needed = "required" if field["required"] else f"default {field['default']!r}"
        about = f"  {field['description']}" if field["description"] else ""
        click.echo(f"  {name:<{widest}}  {field['type']}, {needed}{about}")


def _options(info: AdapterInfo) -> dict[str, dict[str, Any]]:
    """Return the options of an adapter of the harness's own; another's module is not loaded for a list."""
    if info.source != "built-in":
        return {}
    from harness.naming import load_target

    model = load_target(info.target, "--system", info.name).Options
    return {
        name: {
            "type": _type(field.annotation),
            "required": field.is_required(),
            "default": None if field.is_required() else field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in model.model_fields.items()
    }


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _check(spec: str) -> int:
    from harness.adapters import conformance

    report = conformance.check(spec)
    for line in conformance.lines(report):
        click.echo(line)
    return 0 if report.ok else 1
