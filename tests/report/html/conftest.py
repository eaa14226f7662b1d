"""Pages for the tests, and Chromium, where it is installed, to look at them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from harness.comparison import Comparison, compare, compare_scores
from harness.llm.usage import Spent
from harness.report.html.render import render_report
from harness.runs.scoring import score_run
from harness.scoring import Answer, CaseScore, Scored, SystemScores, find_scorer
from harness.scoring.calibration import Ruling as ProbeRuling
from harness.scoring.calibration import measure
from harness.scoring.judge.record import Count, Judged, JudgeSummary, JudgeUse, Met, Trace
from harness.scoring.judge.verdicts import Claim, Judgement, Ruling
from harness.scoring.probes import Label, Probe
from harness.suite import Suite, load_suite
from tests.runs.made import FAILED, made_run, record

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
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


class Made(NamedTuple):
    """A suite, a comparison over it, the answers, and their page."""

    suite: Suite
    comparison: Comparison
    answers: Mapping[str, Mapping[str, Answer]]
    html: str


def make(suite: Suite, answers: Mapping[str, Mapping[str, Answer]], title: str | None = None) -> Made:
    """Return the page of answers over a suite."""
    comparison = compare(suite, answers)
    return Made(suite, comparison, answers, render_report(comparison, suite, answers=answers, title=title))


def synthetic(suite: Suite, names: int = 8) -> dict[str, dict[str, Answer]]:
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
    return given


# What a page must show and never do.
SCRIPT = "<script>document.title='pwned';console.log('pwned')</script>"
IMAGE = "<img src=x onerror=\"document.title='pwned'\">"
CLOSING = "</script></style></textarea><!--<script>alert(1)//"
BREAKING = "\"'><svg onload=alert(1)>{{ 7*7 }}{% raw %}${7*7}\\u003cb\\u003e"
BIDI = "abc\u202egnp.exe\u2066 hidden\u200f\u2069"
CONTROL = "a\x00b\x1b[31mred\u2028line\ud800half"
LONG = "x" * 600
HOSTILE = (SCRIPT, IMAGE, CLOSING, BREAKING, BIDI, CONTROL, LONG, "javascript:alert(1)", "__proto__")
MARKUP = (SCRIPT, IMAGE, CLOSING, BREAKING)


def hostile_suite(folder: Path) -> Path:
    """Write a suite whose every text that others write is hostile."""
    everything = " ".join(text for text in HOSTILE if text is not CONTROL)
    header = {
        "test_id": "layer1_01_fee",
        "category": "layer1",
        "question_time": "2025-04-20T09:00:00-05:00",
        "title": f"{SCRIPT} {BIDI}",
        "description": everything,
        "domain": f"{CLOSING} {LONG}",
        "abilities": [f"{IMAGE}", "correction"],
        "user_question": f"What is the fee? {everything}",
        "expected_behavior": f"The fee is $45. {everything}",
        "evaluation_criteria": [{"id": f"{IMAGE}", "text": f"States the fee of $45. {everything}"}],
        "gold_facts": {
            "required": [
                {"id": f"fee{SCRIPT}", "fact": "$45", "type": "money", "evidence": ["conv_001#1"]},
                {"id": f"due{BIDI}", "fact": "March 24, 2025", "type": "date", "accept": [f"{IMAGE}"]},
            ],
            "forbidden": [
                {"id": CLOSING, "fact": "$30", "type": "money", "why": everything, "evidence": ["conv_001#2"]}
            ],
        },
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


class Opened:
    """A page in Chromium, with what it said and asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def check(self) -> None:
        """Nothing was said, nothing was asked for but the file itself."""
        assert self.said == []
        assert [url for url in self.asked if not url.startswith("file://")] == []

    def go(self, fragment: str) -> None:
        """Follow a fragment, as a click on a link does."""
        self.page.evaluate("to => { location.hash = to }", fragment)
        self.page.wait_for_timeout(50)


@pytest.fixture
def small(write_suite: Callable[..., Path]) -> Made:
    """Three cases, and two systems with an answer of every kind."""
    return make(load_suite(write_suite("layer1_01_fee", "layer1_02_fee", "layer2_01_fee")), ANSWERS)


@pytest.fixture
def hostile(tmp_path: Path) -> Made:
    """A suite and answers that are hostile wherever somebody else can write."""
    return make(load_suite(hostile_suite(tmp_path / "hostile")), hostile_answers(), f"{SCRIPT}{BIDI}")


@pytest.fixture
def judged(write_suite: Callable[..., Path]) -> Made:
    """One answer that a calibrated judge ruled on."""
    suite = load_suite(write_suite("layer1_01_fee"))
    case = suite.cases[0]
    answer = Answer("It is $45. That is made up.")
    judgement = Judgement(
        "It states the fee. <b>Not bold</b>",
        (Ruling("fee", "met", "It is $45.", ("met",)), Ruling("asks", "not_met", "", ("not_met",))),
        (),
        (Claim("That something is made up", "made up"),),
    )
    spent = Spent(1, 900, 80, 1, 0.01, 1)
    trace = Trace("openai/gpt-5", "gpt-5-2025", "{}", spent, 1)
    dimensions = (Met("accuracy", 1.0, 2.0, 2),)
    score = CaseScore(
        case.id,
        case.category,
        "llm-judge",
        Scored(0.5),
        flags=("hallucination",),
        judged=Judged(judgement, (trace,), dimensions),
    )
    probes: tuple[tuple[Label, float], ...] = (("accept", 1.0), ("accept", 0.2), ("reject", 0.0))
    rulings = [
        ProbeRuling(
            Probe(case.id, f"p{at}", "paraphrased" if label == "accept" else "stale", label, "An answer."),
            (CaseScore(case.id, case.category, "llm-judge", Scored(reward)),),
        )
        for at, (label, reward) in enumerate(probes)
    ]
    calibration = measure(rulings, scorer="llm-judge", suite_hash=suite.hash, of="openai/gpt-5").as_data()
    use = JudgeUse("openai/gpt-5", ("gpt-5-2025",), (), spent, None, "gpt", 1, {})
    summary = JudgeSummary((use,), "ab" * 32, True, False, 1, {}, Count(0, 0), Count(0, 0), calibration, ())
    comparison = replace(
        compare(suite, {"mine": {case.id: answer}}),
        scorer="llm-judge",
        systems=(SystemScores("mine", (score,)),),
        judge=summary,
    )
    answers = {"mine": {case.id: answer}}
    return Made(suite, comparison, answers, render_report(comparison, suite, answers=answers))


@pytest.fixture
def payloads() -> tuple[str, ...]:
    """The markup that the hostile suite is made of."""
    return MARKUP


@pytest.fixture
def ran(write_suite: Callable[..., Path], tmp_path: Path) -> Made:
    """Two runs: one with memories that were read, cut and left unread, and one with errors."""
    suite = load_suite(write_suite("layer1_01_fee", "layer1_02_fee", "layer2_01_fee"))
    given = ["The fee is $45 now.", "It is due on March 24, 2025.", "The weather was fine."]
    timings = {"ingest": 0.25, "recall": 0.01, "answer": 0.5}
    read = [
        replace(record(case.id, 0, GOOD, memories=given, timings=timings), kept=(given[0], "It is due"))
        for case in suite
    ]
    bad = [
        record("layer1_01_fee", failure=FAILED, timings=timings),
        record("layer1_02_fee", 0, "It is $30.", memories=["It was $30 last year."], tokens=90),
    ]
    runs = [made_run(tmp_path, suite, *read, label="read"), made_run(tmp_path, suite, *bad, label="bad")]
    scorer = find_scorer("keyword-recall")
    scores = [score_run(run, suite.cases, scorer).scores for run in runs]
    comparison = compare_scores(suite, scores, scorer)
    return Made(suite, comparison, {}, render_report(comparison, suite, runs))


@pytest.fixture(scope="session")
def whole() -> Made:
    """The bundled suite by eight systems."""
    suite = load_suite(ROOT / "test_cases")
    return make(suite, synthetic(suite))


# Playwright keeps an event loop running for as long as it lives, and tests after these start their own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Callable[..., Any]]:
    """Return what starts Chromium; skip where it or playwright is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with api.sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags])


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Any]) -> Iterator[Any]:
    started = chromium()
    yield started
    started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open HTML from disk: `open_page(html, width=…, dark=…, fragment=…)`."""
    contexts = []

    def opened(
        html: str,
        *,
        width: int = 1280,
        dark: bool = False,
        fragment: str = "",
        trusted: bool = False,
    ) -> Opened:
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            bypass_csp=trusted,
        )
        contexts.append(context)
        made = Opened(context.new_page())
        made.page.goto(file.as_uri() + fragment)
        return made

    yield opened
    for context in contexts:
        context.close()
