"""The scorer `llm-judge`: one or several models rule on each criterion of a case."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.llm.cassette import Cassette, Mode, canonical
from harness.llm.client import ChatModel
from harness.llm.endpoint import LOCAL_MODEL, Endpoint, Wanted, parse_judge, resolve_endpoint
from harness.llm.usage import Budget, Price, load_prices
from harness.scoring.judge.prompts import JudgePrompts
from harness.scoring.judge.record import JudgeSummary, errors_of, total, use_of
from harness.scoring.judge.running import Pair, Run, Tally
from harness.scoring.score import CaseScore
from harness.suite import Case
from harness.suite.answer import Answer

DEFAULT_CASSETTE = Path(".recallbench") / "cassette.sqlite"


Progress = Callable[[Tally], None]


@dataclass(slots=True)
class LLMJudge:
    """Judge models behind OpenAI-compatible endpoints.

    Attributes:
        judges: `[provider:]model[@base_url]` each; several make a panel. When empty, `provider`,
            `model`, `base_url` and `api_key_env` name the one judge.
        prompts: folder of templates that take the place of the bundled ones.
        with_transcript: also show the conversations; an unsupported claim vetoes a pass.
        per_criterion: ask about one criterion a call, which small models need.
        repeats: how often each judge is asked; the median verdict counts.
        temperature: sampling temperature, as asked for.
        max_tokens: tokens for a reply; grown when one is cut off.
        concurrency: most requests in flight for each judge.
        timeout_s: seconds to wait for one reply.
        max_errors: share of judge errors above which new work stops.
        max_cost: US dollars after which no request is sent, over all judges.
        prices: price file for providers that name no cost.
        cassette: file or directory where replies are kept.
        cassette_mode: `auto`, `replay` or `off`.
        retry_errors: ask again where the cassette holds an error.
        variables: environment with the keys; the process's own when left out.
    """

    judges: tuple[str, ...] = ()
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    prompts: Path | str | None = None
    with_transcript: bool = False
    per_criterion: bool = False
    repeats: int = 1
    temperature: float = 0.0
    max_tokens: int = 1024
    concurrency: int = 16
    timeout_s: float = 120.0
    max_errors: float | None = None
    max_cost: float | None = None
    prices: Path | str | None = None
    cassette: Path | str | None = DEFAULT_CASSETTE
    cassette_mode: Mode = "auto"
    retry_errors: bool = False
    variables: Mapping[str, str] | None = None
    name: str = field(default="llm-judge", init=False)
    has_pass: bool = field(default=True, init=False)
    footnote: str = field(
        default="A judge is a measuring instrument with errors of its own: read the table with its calibration.",
        init=False,
    )
    progress: Progress | None = field(default=None, repr=False)
    _state: _State = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.judges, str):
            self.judges = (self.judges,)
        self.judges = tuple(self.judges)
        for name, least in (("repeats", 1), ("concurrency", 1), ("max_tokens", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} has to be {least} or more")
        self.temperature = float(self.temperature)
        if not 0 < self.timeout_s < math.inf:
            raise ValueError("timeout_s has to be a number of seconds above 0")
        if self.per_criterion and self.with_transcript:
            raise ValueError("with_transcript does not go with per_criterion")
        if self.max_errors is not None and not 0 <= self.max_errors <= 1:
            raise ValueError("max_errors is a share from 0 to 1")
        if self.max_cost is not None and not self.max_cost >= 0:
            raise ValueError("max_cost has to be 0 or more")
        self._state = _State()

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Judge one answer; see `score_many`."""
        return self.score_many([(case, answer)])[0]

    def score_many(self, pairs: Sequence[Pair]) -> list[CaseScore]:
        """Judge answers side by side; the result stands in their order.

        Raises:
            EndpointError: when the run has to stop: a refused key, an endpoint that cannot be
                reached, an entry that a replayed cassette lacks.
            SettingsError: when no judge can be resolved.
        """
        work = self._judge_all(list(pairs))
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:  # inside a notebook, whose loop cannot be used here
            return pool.submit(asyncio.run, work).result()

    def summary(self, scores: Sequence[CaseScore]) -> JudgeSummary:
        """Return what has to stand beside a table of these scores."""
        from harness.llm.providers import family_of

        state = self._state
        judged = [score.judged for score in scores if score.judged]
        traces = [trace for one in judged for trace in one.traces]
        return JudgeSummary(
            judges=tuple(
                use_of(endpoint.label, scores, endpoint.substitution, family_of(endpoint.model))
                for endpoint in state.endpoints
            ),
            prompt_hash=state.prompt_hash,
            with_transcript=self.with_transcript,
            per_criterion=self.per_criterion,
            repeats=self.repeats,
            errors=errors_of(scores),
            flips=total(trace.flips for trace in traces),
            agreement=total(one.agreement for one in judged),
            calibration=state.calibration,
            stopped=state.stopped,
            kept_in=state.kept_in,
        )

    @property
    def kept(self) -> bool:
        """Whether the last run's replies are in a cassette."""
        return self._state.kept_in is not None

    @property
    def stopped(self) -> str | None:
        """Why the last run ended before every answer was judged, or None."""
        return self._state.stopped

    @property
    def described(self) -> str:
        """Who judges and how, after a run, in one line."""
        names = " and ".join(endpoint.label for endpoint in self._state.endpoints)
        how = ", one criterion a call" if self.per_criterion else ""
        return f"{names}, prompts {self._state.prompt_hash[:12]}{how}"

    def keep_calibration(self, data: Mapping[str, Any]) -> bool:
        """Keep the calibration of this judge in its cassette, for the tables to come.

        Args:
            data: as `Calibration.as_data` has it.

        Returns:
            False when one on more answers is there, which stays.
        """
        held = self._state.calibration
        if held is not None and int(held.get("n", 0)) > int(data["n"]):
            return False
        with self._open_cassette() as cassette:
            cassette.write_note("calibration", self._state.fingerprint, data)
        self._state.calibration = data
        return True

    def _open_cassette(self) -> Cassette:
        return Cassette(None if self.cassette is None else Path(self.cassette), self.cassette_mode)

    def check(self) -> None:
        """Refuse a judge that cannot be had; nothing is asked, and no cassette is made.

        Raises:
            InputError: for prompts, prices or a cassette that cannot be read.
            SettingsError: when no judge can be resolved.
        """
        self._templates()
        self._price_table()
        if self.cassette_mode == "auto":
            self._check_endpoints()
        else:
            with self._open_cassette() as cassette:
                self.resolve(cassette)

    def _check_endpoints(self) -> None:
        with Cassette(None) as none:
            self._check_names(self.resolve(none))

    def _templates(self) -> JudgePrompts:
        folder = None if self.prompts is None else Path(self.prompts)
        return JudgePrompts(folder, per_criterion=self.per_criterion)

    def _price_table(self) -> Mapping[str, Price]:
        return {} if self.prices is None else load_prices(Path(self.prices))

    async def _judge_all(self, pairs: list[Pair]) -> list[CaseScore]:
        templates, prices = self._templates(), self._price_table()
        budget = Budget(self.max_cost)
        if self.cassette_mode == "auto":
            self._check_endpoints()  # before a cassette is made for it
        with self._open_cassette() as cassette:
            endpoints = self.resolve(cassette)
            self._state = _State(endpoints, templates.hash, kept_in=_kept_in(cassette))
            self._state.fingerprint = canonical(
                {
                    "models": [endpoint.label for endpoint in endpoints],
                    "prompts": templates.hash,
                    "transcript": self.with_transcript,
                    "per_criterion": self.per_criterion,
                    "repeats": self.repeats,
                    "parameters": self.parameters,
                }
            )
            self._state.calibration = cassette.note("calibration", self._state.fingerprint)
            async with AsyncExitStack() as stack:
                models = [
                    await stack.enter_async_context(
                        ChatModel(
                            endpoint,
                            cassette,
                            concurrency=self.concurrency,
                            timeout_s=self.timeout_s,
                            prices=prices,
                            max_cost=budget,
                            retry_errors=self.retry_errors,
                        )
                    )
                    for endpoint in endpoints
                ]
                run = Run(self, models, templates, pairs)
                scores = await run.result()
                self._state.stopped = run.stopped
                return scores

    def resolve(self, cassette: Cassette) -> tuple[Endpoint, ...]:
        """Return the endpoints of the judges, as a cassette noted them where it is replayed.

        Raises:
            SettingsError: when one cannot be resolved.
        """
        wanted = [parse_judge(spec) for spec in self.judges] or [
            Wanted(self.provider, self.model, self.base_url, self.api_key_env)
        ]
        endpoints = tuple(self._endpoint(one, cassette) for one in wanted)
        models = [endpoint.model for endpoint in endpoints]
        for model in models:
            if models.count(model) > 1:
                raise InputError(
                    f"--judge: {model} stands twice on the panel. A cassette knows judges by their models; "
                    "use --repeats to ask one again."
                )
        return endpoints

    def _check_names(self, endpoints: Sequence[Endpoint]) -> None:
        """Refuse to keep replies under a name that every local model has."""
        if self.cassette is not None and any(endpoint.model == LOCAL_MODEL for endpoint in endpoints):
            raise InputError(
                "--base-url without --model: name the model, because replies and calibration are kept by it. "
                "`recallbench judge check` shows what the server calls it."
            )

    def _endpoint(self, wanted: Wanted, cassette: Cassette) -> Endpoint:
        """Resolve a judge; in replay as it was resolved when it was recorded, so that no key is needed."""
        name = canonical({"provider": wanted.provider, "model": wanted.model, "url": bool(wanted.base_url)})
        if cassette.mode == "replay" and (noted := cassette.note("judge", name)):
            return Endpoint(**noted, base_url="", api_key=None)
        variables = os.environ if self.variables is None else self.variables
        endpoint = resolve_endpoint(wanted, variables)
        kept = {key: value for key, value in endpoint.recorded().items() if key != "base_url"}
        if cassette.note("judge", name) != kept:
            cassette.write_note("judge", name, kept)
        return endpoint

    @property
    def parameters(self) -> dict[str, Any]:
        """The sampling parameters as meant."""
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}


@dataclass(slots=True)
class _State:
    """What the last run found out about the judges."""

    endpoints: tuple[Endpoint, ...] = ()
    prompt_hash: str = ""
    fingerprint: str = ""
    calibration: Mapping[str, Any] | None = None
    stopped: str | None = None
    kept_in: str | None = None


def _kept_in(cassette: Cassette) -> str | None:
    return None if cassette.mode == "off" else str(cassette.path)
