"""Settings and where each comes from.

A flag wins over a `RECALLBENCH_*` variable, that over `.env`, that over
`recallbench.yaml`, that over the default. `.env` and `recallbench.yaml` are read from the
working directory; `.env` never changes the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import SettingsError, SuiteError
from harness.scoring.outcome import PASS_THRESHOLD
from harness.scoring.scorer import DEFAULT_SCORER

PREFIX = "RECALLBENCH_"
OTHER_VARIABLES = frozenset({"RECALLBENCH_DEBUG"})
CONFIG_FILE = "recallbench.yaml"
ENV_FILE = ".env"


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _share(text: str) -> float:
    """Read a number in [0, 1]; nan is none."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValueError("expected a number from 0 to 1")
    return value


def _format(text: str) -> str:
    from harness.report import FORMATS

    if text not in FORMATS:
        raise ValueError(f"expected one of {', '.join(FORMATS)}")
    return text


def _count(text: str) -> int:
    if not text.strip().isdigit() or int(text) < 1:
        raise ValueError("expected a whole number, 1 or more")
    return int(text)


def _variable(text: str) -> str:
    # What is no name may be a key, which must not be shown.
    if not text.isidentifier() or not text.isascii():
        raise SettingsError(
            "api_key_env holds no variable's name. Put the key into a variable and name that; a key is never given itself."
        )
    return text


def _mode(text: str) -> str:
    from harness.llm.cassette import MODES

    if text not in MODES:
        raise ValueError(f"expected one of {', '.join(MODES)}")
    return text


class Setting(NamedTuple):
    """One setting: its name, how its text is read, its default and what it is for."""

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()


SETTINGS = (
    Setting("suite", _path, None, "directory of the suite (the bundled one when unset)"),
    Setting("gold", _path, None, "gold file that overrides the suite's gold facts"),
    Setting("scorer", str, DEFAULT_SCORER, "scorer by name, module:attribute or entry point"),
    Setting("pass_threshold", _share, PASS_THRESHOLD, "reward from which an answer passes"),
    Setting("provider", str, None, "provider of the judge model, see docs/providers.md"),
    Setting("model", str, None, "judge model, as its endpoint calls it"),
    Setting("base_url", str, None, "OpenAI-compatible endpoint of the judge"),
    Setting("api_key_env", _variable, None, "variable that holds the judge's key"),
    Setting("prompts", _path, None, "folder of judge prompts that replace the bundled ones"),
    Setting("concurrency", _count, 16, "most requests in flight for each judge"),
    Setting("cassette", _path, _path(".recallbench/cassette.sqlite"), "where a judge's replies are kept"),
    Setting("cassette_mode", _mode, "auto", "auto, replay (never calls a model) or off"),
    Setting("format", _format, "table", "what compare, batch and list print: table, md, json or csv"),
)


class Resolved(NamedTuple):
    """A setting's value and the place that it comes from."""

    setting: Setting
    value: Any
    source: str


def resolve(flags: Mapping[str, Any] | None = None, *, folder: Path | None = None) -> dict[str, Resolved]:
    """Return every setting with its source.

    Args:
        flags: values given on the command line; None stands for a flag not given.
        folder: where `.env` and `recallbench.yaml` are looked for; the working directory.

    Raises:
        SettingsError: for an unknown key in `recallbench.yaml` or a value that cannot be read.
    """
    where = folder or Path()
    _check_names(os.environ, "the environment")
    dotenv = _dotenv(where / ENV_FILE)
    _check_names(dotenv, ENV_FILE)
    config = _config(where / CONFIG_FILE)
    return {setting.name: _one(setting, flags or {}, dotenv, config) for setting in SETTINGS}


def variables(*, folder: Path | None = None) -> dict[str, str]:
    """Return the environment with what `.env` adds to it; keys of providers are looked up here."""
    from harness.llm.api_keys import key_variables

    return key_variables(_dotenv((folder or Path()) / ENV_FILE), os.environ)


def _one(
    setting: Setting,
    flags: Mapping[str, Any],
    dotenv: Mapping[str, str],
    config: Mapping[str, tuple[str, int]],
) -> Resolved:
    given = flags.get(setting.name)
    if given is not None:
        text, source = str(given), f"flag --{setting.name.replace('_', '-')}"
    elif value := os.environ.get(setting.variable):
        text, source = value, f"variable {setting.variable}"
    elif value := dotenv.get(setting.variable):
        text, source = value, f"{ENV_FILE} ({setting.variable})"
    elif setting.name in config:
        text, line = config[setting.name]
        source = f"{CONFIG_FILE}:{line}"
    else:
        return Resolved(setting, setting.default, "default")
    try:
        return Resolved(setting, setting.read(text), source)
    except ValueError as error:
        raise SettingsError(f"{source}: {setting.name} is {text!r}: {error}") from None


def _check_names(variables: Mapping[str, str], where: str) -> None:
    """Refuse a variable of ours that sets nothing: a misspelt one would be ignored in silence."""
    known = {setting.variable for setting in SETTINGS} | OTHER_VARIABLES
    for name in variables:
        if name.startswith(PREFIX) and name not in known:
            listed = ", ".join(sorted(known))
            raise SettingsError(f"{where}: unknown variable {name}. The variables are {listed}.")


def _dotenv(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    if not path.is_file():
        raise SettingsError(f"{path}: is no file. Move it away, or make it one.")
    from dotenv import dotenv_values

    try:
        return {key: value for key, value in dotenv_values(path, interpolate=False).items() if value}
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8. Save the file as UTF-8.") from None


def _config(path: Path) -> dict[str, tuple[str, int]]:
    """Return `{name: (text, line)}` of the configuration file."""
    if not path.exists():
        return {}
    if not path.is_file():
        raise SettingsError(f"{path}: is no file. Move it away, or make it one.")
    if not path.read_bytes().strip():
        return {}
    from harness.suite.chunks import read_header
    from harness.suite.yaml_reader import parse

    try:
        document = parse(read_header(path))
    except SuiteError as error:
        raise SettingsError("\n".join(map(str, error.problems))) from None
    if not isinstance(document.value, dict):
        raise SettingsError(f"{path}:1: holds no settings. Write them as `name: value`.")
    known = {setting.name for setting in SETTINGS}
    values: dict[str, tuple[str, int]] = {}
    for name, value in document.value.items():
        line = document.line((name,))
        if name not in known:
            raise SettingsError(
                f"{path}:{line}: unknown setting {name!r}. The settings are {', '.join(sorted(known))}."
            )
        if not isinstance(value, str):
            raise SettingsError(f"{path}:{line}: {name} holds no plain value. Write `{name}: value`.")
        values[name] = (value, line)
    return values
