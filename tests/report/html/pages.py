"""Comparisons for the tests of the page: a small suite, answers of every outcome, hostile texts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import yaml

from harness.comparison import Comparison, compare
from harness.report.html.render import render_report
from harness.scoring import Answer
from harness.suite import Suite, load_suite

GOOD = "The fee is $45 and it is due on March 24, 2025."
ANSWERS: dict[str, dict[str, Answer]] = {
    "good": {
        "layer1_01_fee": Answer(
            GOOD, memory=("The fee is $45.", "Due March 24, 2025."), latency_s=0.2, tokens=90
        ),
        "layer1_02_fee": Answer(GOOD, memory=("It was $30.",), latency_s=0.3, tokens=80),
        "layer2_01_fee": Answer("The fee may be $45 or $99.", memory=(), latency_s=0.1, tokens=70),
    },
    "stale": {
        "layer1_01_fee": Answer("The fee is $30, due March 24.", memory=("It was $30 last year.",) * 2),
        "layer1_02_fee": Answer(None, error="timeout in recall: no reply"),
    },
}


def page(root: Path, answers: Mapping[str, Mapping[str, Answer]] = ANSWERS) -> str:
    """Return the report of answers over a suite."""
    suite = load_suite(root)
    return render_report(compare(suite, answers), suite, answers=answers)


def synthetic(suite: Suite, names: int = 8) -> tuple[Comparison, dict[str, dict[str, Answer]]]:
    """Return made-up answers of so many systems over a suite: right, hedged, missing and wrong by chance."""
    chance = random.Random(7)
    given: dict[str, dict[str, Answer]] = {}
    talks = {
        case.id: [said.text for talk in case.conversations() for said in talk.messages] for case in suite
    }
    for number in range(names):
        skill = (number + 1) / (names + 1)
        answers = {}
        for case in suite:
            parts = ["Here is what I have."]
            for fact in case.gold.required:
                drawn = chance.random()
                said = "is" if drawn < skill else "may be"
                parts.append(
                    f"The {fact.id} {said} {fact.fact}." if drawn < skill + 0.1 else f"No {fact.id}."
                )
            parts += [f"It is {fact.fact}." for fact in case.gold.forbidden if chance.random() > skill + 0.2]
            held = talks[case.id]
            memory = tuple(chance.sample(held, min(40 * (number + 1), len(held))))
            failed = "timeout: no reply" if chance.random() < 0.02 else None
            answers[case.id] = Answer(
                None if failed else " ".join(parts),
                memory=memory,
                latency_s=chance.uniform(0.1, 2),
                tokens=chance.randrange(200, 4000),
                error=failed,
            )
        given[f"system-{number + 1}"] = answers
    return compare(suite, given), given


# What a page must show and never do.
SCRIPT = "<script>document.title='pwned';console.log('pwned')</script>"
IMAGE = "<img src=x onerror=\"document.title='pwned'\">"
CLOSING = "</script></style></textarea><!--<script>alert(1)//"
BREAKING = "\"'><svg onload=alert(1)>{{ 7*7 }}{% raw %}${7*7}\\u003cb\\u003e"
BIDI = "abc\u202egnp.exe\u2066 hidden\u200f\u2069"
CONTROL = "a\x00b\x1b[31mred\u2028line\ud800half"
LONG = "x" * 600
HOSTILE = (SCRIPT, IMAGE, CLOSING, BREAKING, BIDI, CONTROL, LONG, "javascript:alert(1)", "__proto__")


def hostile_suite(folder: Path, header: dict[str, object]) -> Path:
    """Write a suite whose every text that others write is hostile."""
    everything = " ".join(text for text in HOSTILE if text is not CONTROL)
    header = {
        **header,
        "title": f"{SCRIPT} {BIDI}",
        "description": everything,
        "domain": f"{CLOSING} {LONG}",
        "abilities": [f"{IMAGE}", "correction"],
        "user_question": f"What is the fee? {everything}",
        "expected_behavior": f"The fee is $45. {everything}",
    }
    talk = {
        "conversation_id": "conv_001",
        "timestamp": "2025-03-04T10:15:00-05:00",
        "metadata": {"business": f"{SCRIPT}{BIDI}", "channel": CLOSING},
        "messages": [
            {"user": f"So the fee is $45 now? {everything}"},
            {"assistant": f"Yes, it was $30 last year. {SCRIPT}"},
            {"user": "And I pay it on Monday, March 24, 2025."},
            {"assistant": f"Right. The $99 is for the other account. {LONG}"},
        ],
    }
    path = folder / "layer1" / "01_fee.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump_all([header, talk], allow_unicode=True), encoding="utf-8")
    return folder


def hostile_answers() -> dict[str, dict[str, Answer]]:
    """Return a system named after each payload, that says and recalls them all."""
    said = f"The fee is $45. {' '.join(HOSTILE)}"
    made = {name: {"layer1_01_fee": Answer(said, memory=HOSTILE)} for name in HOSTILE if name != CONTROL}
    made[f"{BIDI}broken"] = {"layer1_01_fee": Answer(None, error=f"{SCRIPT}{CLOSING}{BIDI}")}
    return made
