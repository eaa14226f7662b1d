"""The JSON that the page's script makes case pages of, written so that it can end nothing around it."""

from __future__ import annotations

import json
from typing import Any

from harness.report.html.answer_page import AnswerView
from harness.report.html.case_page import CaseView, ConversationView
from harness.report.html.data import ReportData
from harness.report.html.marks import Pieces

# `<` covers `</script>` and `<!--`; the line separators end a line of JavaScript.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\u2028", "\u2029")}


def block(data: Any) -> str:
    """Return data as JSON that may stand inside a `script` element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def index_data(data: ReportData) -> dict[str, Any]:
    """Return what the filters need of every case before its page is opened."""
    return {
        "systems": list(data.names),
        "scorer": data.scorer,
        "cases": [
            {
                "id": case.id,
                "layer": case.layer,
                "domain": case.domain,
                "abilities": list(case.abilities),
                "outcomes": [answer.outcome for answer in case.answers],
            }
            for case in data.cases
        ],
    }


def case_data(case: CaseView) -> dict[str, Any]:
    """Return the page of a case; memories that several systems recalled stand in it once."""
    texts: dict[Pieces, int] = {}
    answers = [_answer(answer, texts) for answer in case.answers]
    return {
        "id": case.id,
        "layer": case.layer,
        "title": case.title,
        "description": case.description,
        "domain": case.domain,
        "abilities": list(case.abilities),
        "asked": case.asked,
        "answerable": case.answerable,
        "question": case.question,
        "reference": case.reference,
        "criteria": list(case.criteria),
        "problem": case.problem,
        "facts": [{**fact._asdict(), "cited": [list(place) for place in fact.cited]} for fact in case.facts],
        "talks": [_talk(talk) for talk in case.conversations],
        "texts": [_pieces(pieces) for pieces in texts],
        "answers": answers,
    }


def _talk(talk: ConversationView) -> dict[str, Any]:
    return {
        "id": talk.id,
        "when": talk.when,
        "about": talk.about,
        "size": talk.size,
        "left": talk.left_out,
        "messages": [
            {
                "n": message.number,
                "role": message.role,
                "text": _pieces(message.text),
                **({"facts": message.facts} if message.facts else {}),
                **({"near": True} if message.near else {}),
            }
            for message in talk.messages
        ],
    }


def _answer(answer: AnswerView, texts: dict[Pieces, int]) -> dict[str, Any]:
    memories = answer.memories
    return {
        "outcome": answer.outcome,
        "label": answer.label,
        "reason": answer.reason,
        "reward": answer.reward,
        "flags": list(answer.flags),
        "text": None if answer.text is None else _pieces(answer.text),
        "cut": answer.cut,
        "lines": [list(line) for line in answer.lines],
        "ruling": answer.ruling and answer.ruling._asdict(),
        "memories": None
        if memories is None
        else [
            [
                texts.setdefault(memory.text, len(texts)),
                memory.cut,
                memory.score,
                memory.when,
                memory.refs,
                memory.read,
            ]
            for memory in memories
        ],
        "left": answer.memories_left_out,
        "facts": list(answer.facts),
    }


def _pieces(pieces: Pieces) -> list[Any]:
    """Write a piece without a mark as its text alone."""
    return [list(piece) if piece.kind else piece.text for piece in pieces]
