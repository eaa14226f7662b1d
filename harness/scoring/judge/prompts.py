"""What a judge is sent: a rubric for the layer, the case, and the answer behind a fence.

The templates are `prompts/judge_*.j2`, or a folder of the user's own; a file that it lacks is
taken from the bundled ones. They are rendered once, in jinja2's sandbox, and an undefined name
is an error. An answer is only ever a value: braces in it are never evaluated.
"""

from __future__ import annotations

import difflib
import re
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.facts.model import FactType, GoldFact
from harness.llm.templates import FENCE_DIGITS, neutralised
from harness.resources import bundled
from harness.suite.models import LAYERS

if TYPE_CHECKING:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from harness.suite import Case
    from harness.suite.models import Criterion

ABSTENTION = "judge_abstention.j2"
CASE = "judge_case.j2"
RUBRICS = ("judge_layer1.j2", "judge_layer2.j2", "judge_layer3.j2", ABSTENTION)
ONE_RUBRIC = "judge_criterion.j2"
ONE_CASE = "judge_criterion_case.j2"
BASE = "judge_base.j2"
AT_ONCE = (BASE, *RUBRICS, CASE)
ONE_BY_ONE = (ONE_RUBRIC, ONE_CASE)
FILES = (*AT_ONCE, *ONE_BY_ONE)
_TURN = re.compile(r"^--- (user|assistant) ---\n", re.MULTILINE)
Message = dict[str, str]


class JudgePrompts:
    """The templates of a judge.

    Args:
        folder: the user's own templates; the bundled ones when left out.
        per_criterion: whether `messages_for_one` is to be used; `hash` covers what is used only.

    Raises:
        InputError: for a folder without any of the templates, or a template that is broken.
    """

    def __init__(self, folder: Path | None = None, *, per_criterion: bool = False) -> None:
        from jinja2 import FileSystemLoader, StrictUndefined

        ours = bundled("prompts")
        if folder is not None:
            if not folder.is_dir():
                raise InputError(f"--prompts {folder}: no such folder.")
            if not any((folder / name).is_file() for name in FILES):
                raise InputError(f"--prompts {folder}: holds none of {', '.join(FILES)}.")
            _check_names(folder)
        folders = [ours] if folder is None else [folder, ours]
        self._environment = _sandbox()(
            loader=FileSystemLoader(folders), undefined=StrictUndefined, autoescape=False
        )
        used = ONE_BY_ONE if per_criterion else AT_ONCE
        self._templates = {name: self._load(name) for name in used if name != BASE}
        self.hash = _hash_of(folders, used)
        self._rubrics: dict[tuple[Any, ...], str] = {}
        self._examples: dict[str, tuple[Message, ...]] = {}
        self._cases: dict[str, dict[str, Any]] = {}

    def messages(self, case: Case, answer: str, transcript: str | None = None) -> tuple[Message, ...]:
        """Return the messages that ask for a verdict on an answer.

        Args:
            case: the case.
            answer: the text to be judged.
            transcript: the conversations, where claims are to be held against them.
        """
        fixed = self._of_case(case)
        wrong = fixed["wrong_values"]
        shape = {"wrong_values": bool(wrong), "with_transcript": transcript is not None}
        name = ABSTENTION if not case.answerable else f"judge_{_layer(case)}.j2"
        kept = (name, bool(wrong), transcript is not None)
        if kept not in self._rubrics:
            self._rubrics[kept] = self._render(name, shape)
        said = self._render(
            CASE,
            {
                **fixed,
                "with_transcript": transcript is not None,
                "transcript": None if transcript is None else neutralised(transcript),
                "answer": neutralised(answer),
                "fence": self.fence(answer),
            },
        )
        return {"role": "system", "content": self._rubrics[kept]}, {"role": "user", "content": said}

    def _of_case(self, case: Case) -> dict[str, Any]:
        """Return what a template gets of a case, whatever the answer; made once a case."""
        if case.id not in self._cases:
            self._cases[case.id] = {
                "question": case.question,
                "question_time": case.question_time.isoformat() if case.question_time else None,
                "reference": case.expected_behavior,
                "facts": [_fact(fact) for fact in (*case.gold.required, *case.gold.optional)],
                "wrong_values": [_fact(fact) for fact in case.gold.forbidden],
                "criteria": [_criterion(item) for item in case.criteria],
                "criterion_ids": ", ".join(item.id for item in case.criteria),
                "wrong_value_ids": ", ".join(fact.id for fact in case.gold.forbidden),
            }
        return self._cases[case.id]

    def messages_for_one(
        self, case: Case, answer: str, *, criterion: Criterion | None = None, wrong: GoldFact | None = None
    ) -> tuple[Message, ...]:
        """Return the messages that ask about one criterion, or about one forbidden fact."""
        layer = _layer(case) if case.answerable else "abstention"
        if layer not in self._examples:
            self._examples[layer] = _turns(self._render(ONE_RUBRIC, {"layer": layer}))
        said = self._render(
            ONE_CASE,
            {
                "question": case.question,
                "answer": neutralised(answer),
                "fence": self.fence(answer),
                "criterion": _criterion(criterion) if criterion else None,
                "wrong_value": _fact(wrong) if wrong else None,
            },
        )
        return (*self._examples[layer], {"role": "user", "content": said})

    def fence(self, answer: str) -> str:
        """Return the mark of an answer's fence, which the answer cannot know."""
        held = f"{self.hash}\n{answer}".encode("utf-8", "surrogatepass")
        return sha256(held).hexdigest()[:FENCE_DIGITS]

    def _load(self, name: str) -> jinja2.Template:
        from jinja2 import TemplateError, TemplateSyntaxError

        try:
            return self._environment.get_template(name)
        except UnicodeDecodeError as error:
            raise InputError(f"{name}: not UTF-8 (byte {error.start}). Save the template as UTF-8.") from None
        except TemplateSyntaxError as error:
            where = f"{error.filename or name}:{error.lineno}"
            raise InputError(f"{where}: the template is broken: {error.message}.") from None
        except TemplateError as error:
            raise InputError(f"{name}: the template cannot be read: {error}.") from None

    def _render(self, name: str, values: dict[str, Any]) -> str:
        from jinja2 import TemplateSyntaxError

        try:
            return self._templates[name].render(values).strip()
        except TemplateSyntaxError as error:
            where = f"{error.filename or name}:{error.lineno}"
            raise InputError(f"{where}: the template is broken: {error.message}.") from None
        except Exception as error:  # whatever the user's own template does
            place = _where(error) or self._templates[name].filename
            said = str(error).rstrip(".") or type(error).__name__
            raise InputError(f"{place}: the template cannot be rendered: {said}.") from None


def _where(error: Exception) -> str | None:
    """Return the template and line that an error came up in; jinja2 gives its frames their names."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return next((f"{file}:{line}" for file, line in reversed(frames) if file.endswith(".j2")), None)


def _check_names(folder: Path) -> None:
    """Refuse a template that is called almost like one of ours: it would take nobody's place in silence."""
    for path in sorted(folder.glob("*.j2")):
        near = difflib.get_close_matches(path.name, FILES, n=1, cutoff=0.9)
        if path.name not in FILES and near:
            raise InputError(f"{path}: no template is called so. Did you mean {near[0]}?")


def _sandbox() -> type[ImmutableSandboxedEnvironment]:
    """Return jinja2's sandbox, made quick for plain mappings; nothing in them can be changed for the next answer."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        def getattr(self, obj: Any, attribute: str) -> Any:
            if type(obj) is dict and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

    return Sandbox


def transcript_of(case: Case) -> str:
    """Return the conversations of a case as the judge reads them."""
    parts = []
    for conversation in case.conversations():
        when = conversation.timestamp.isoformat() if conversation.timestamp else "no date"
        lines = [f"[{conversation.id}, {when}]"]
        lines += [f"{message.role}: {message.text}" for message in conversation.messages]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _fact(fact: GoldFact) -> dict[str, Any]:
    if fact.type is FactType.ABSTAIN:
        return {
            "id": fact.id,
            "type": "abstain",
            "value": "the conversations never say it",
            "also": [],
            "why": "",
        }
    return {
        "id": fact.id,
        "type": fact.type.value,
        "value": fact.fact,
        "also": list(fact.forms[1:]),
        "why": fact.why,
    }


def _turns(text: str) -> tuple[Message, ...]:
    """Cut a rendered rubric into its messages, the system's first."""
    parts = _TURN.split(text)
    turns = zip(("system", *parts[1::2]), parts[0::2], strict=True)
    return tuple({"role": role, "content": said.strip()} for role, said in turns)


def _layer(case: Case) -> str:
    """Return the layer whose rubric fits: recall, where an imported suite has groups of its own."""
    return case.category if case.category in LAYERS else LAYERS[0]


def _criterion(item: Criterion) -> dict[str, Any]:
    return {"id": item.id, "text": item.text, "facts": list(item.facts), "kind": item.kind}


def _hash_of(folders: list[Path], names: tuple[str, ...]) -> str:
    """Return the hash of the templates in use, independent of where they lie."""
    total = sha256()
    # What the user's templates include or extend is part of them, whatever it is called.
    own = {path.name for path in folders[0].glob("*.j2")} - set(FILES) if len(folders) > 1 else set()
    for name in (*names, *sorted(own)):
        path = next(folder / name for folder in folders if (folder / name).is_file())
        held = path.read_bytes().replace(b"\r\n", b"\n")
        total.update(f"{name}\n{len(held)}\n".encode() + held)
    return total.hexdigest()
