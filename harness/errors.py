"""The error tree and the exit statuses: the one place that says how recallbench fails.

HarnessError
├── InputError        what the user handed in is wrong (exit 2)
│   ├── FactError     a gold fact that cannot be matched against anything
│   ├── SuiteError    a suite, a gold file or a case has problems; carries all of them
│   ├── ResponsesError    a responses file that does not fit the suite
│   └── SettingsError     a setting with an impossible value
├── EndpointError     a model endpoint cannot be reached or refuses the key (exit 3)
└── GateError         a gate the user set was not met (exit 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # this module is loaded by `--help`, which has no need of pathlib
    from pathlib import Path


class ExitCode(IntEnum):
    """Exit statuses of the `recallbench` command."""

    DONE = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    ENDPOINT = 3
    INTERRUPTED = 130


class HarnessError(Exception):
    """Base of every error that recallbench raises on purpose.

    The message is one a user can act on: what is wrong, where, and the mend.
    """

    exit_code = ExitCode.BAD_INPUT


class InputError(HarnessError):
    """What the user handed in cannot be used."""


class FactError(InputError):
    """A gold fact has no form that anything could match."""


class ResponsesError(InputError):
    """A responses file does not fit the suite it is scored against."""


class SettingsError(InputError):
    """A flag, variable or configuration file holds an impossible value."""


class EndpointError(HarnessError):
    """A model endpoint cannot be reached, refuses the key, or is absent from a replayed cassette."""

    exit_code = ExitCode.ENDPOINT


class GateError(HarnessError):
    """A gate such as `--fail-under` was not met."""

    exit_code = ExitCode.GATE_FAILED


class Problem(NamedTuple):
    """One thing wrong with one place of a file; problems sort by file and line.

    Attributes:
        path: the file, as the user named it.
        line: 1-based line, or 0 where no single line is to blame.
        field: dotted path inside the document, such as `gold_facts.required[0].fact`.
        message: what is wrong.
        mend: what to do about it.
        rule: short stable name of the check, such as `fact-not-in-evidence`.
    """

    path: Path
    line: int
    field: str
    message: str
    mend: str
    rule: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        field = f" {self.field}:" if self.field else ""
        mend = f" Mend: {self.mend}" if self.mend else ""
        return f"{place}:{field} {self.message}{mend} [{self.rule}]"


class SuiteError(InputError):
    """A suite, or a file beside it, has problems; `problems` holds every one of them.

    Args:
        problems: at least one.
        what: where they are, in words.
    """

    def __init__(self, problems: Sequence[Problem], what: str = "the suite") -> None:
        self.problems = tuple(sorted(problems))
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        super().__init__("\n".join([f"{head} in {what}:", *map(str, self.problems)]))
