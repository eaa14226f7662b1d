"""`recallbench systems`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console

if TYPE_CHECKING:
    from harness.adapters.registry import AdapterInfo
    from harness.naming import Spec

FLAG = "--system"
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
    known = available_adapters()
    if name is not None:
        spec = parse_spec(name, FLAG)
        # A built-in's options can be told without what it needs.
        info = next((info for info in known if info.name == spec.name), None) or find_adapter(spec)
        if as_json:
            _line(info, _described(info, spec))
        else:
            _one(info, spec)
        return 0
    if as_json:
        for info in known:
            _line(info, _options(info))
        return 0
    widest = max(len(info.name) for info in known)
    for kind, title in _KINDS.items():
        infos = [info for info in known if info.kind == kind]
        if not infos:
            continue
        click.echo(title)
        for info in infos:
            needs = "" if info.installed else f"  [{_install(info)}]"
            click.echo(f"  {info.name:<{widest}}  {info.summary}{needs}")
        click.echo()
    console.say(
        "A system of your own: --system your_module:YourMemory, or an entry point recallbench.adapters; "
        "`recallbench init adapter NAME` writes the beginnings of one. Options: recallbench systems NAME."
    )
    return 0


def _line(info: AdapterInfo, options: Mapping[str, Any]) -> None:
    told = {**info._asdict(), "installed": info.installed, "options": options}
    click.echo(json.dumps(told, ensure_ascii=False, default=str))


def _one(info: AdapterInfo, spec: Spec) -> None:
    options = _described(info, spec)
    source = "your own" if info.name == info.target else f"{info.kind}, {info.source}"
    click.echo(f"{info.name}: {info.summary}  [{source}]")
    if not info.installed:
        click.echo(f"It needs {', '.join(info.lacking)}, which is not installed: {_install(info)}")
    if not options:
        click.echo("It has no options.")
        return
    click.echo(f'\nOptions, as in --system "{info.name}({next(iter(options))}=…)":')
    widest = max(map(len, options))
    for name, field in options.items():
        needed = "required" if field["required"] else f"default {field['default']!r}"
        about = f"  {field['description']}" if field["description"] else ""
        click.echo(f"  {name:<{widest}}  {field['type']}, {needed}{about}")


def _install(info: AdapterInfo) -> str:
    return f"pip install 'recallbench[{info.extra}]'"


def _options(info: AdapterInfo) -> dict[str, dict[str, Any]]:
    """Return the options of an adapter of the harness's own; another's module is not loaded for a list."""
    from harness.naming import Spec

    return _described(info, Spec(info.name, info.name, {}, info.name)) if info.source == "built-in" else {}


def _described(info: AdapterInfo, spec: Spec) -> dict[str, dict[str, Any]]:
    """Return name, type, default and description of each option of an adapter."""
    from harness.adapters.plain import as_adapter
    from harness.adapters.protocol import Adapter
    from harness.naming import load_target

    target = load_target(info.target, FLAG, spec.text)
    if not (isinstance(target, type) and issubclass(target, Adapter)):
        target = as_adapter(target, spec)
    return {
        name: {
            "type": _type(field.annotation),
            "required": field.is_required(),
            "default": None if field.is_required() else field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in target.Options.model_fields.items()
    }


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _check(spec: str) -> int:
    from harness.adapters import conformance

    report = conformance.check(spec)
    for line in conformance.lines(report):
        click.echo(line)
    return 0 if report.ok else 1
