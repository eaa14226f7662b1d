"""Small data sets of the same form as the public ones, written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def turn(speaker: str, id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": id, "text": text, **more}


def locomo_sample(name: str = "talk-1") -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_2_date_time": "12:05 am on 3 June, 2023",
            "session_2": [
                turn("Ben", "D2:1", "The kiln came to $300 in the end."),
                turn("Ada", "D2:2", "", blip_caption="a photo of a kiln"),
                turn("Ada", "D2:3", " "),
                turn("Cleo", "D2:4", "Hello from the back."),
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("Ada", "D1:1", "I went to the pottery class yesterday."),
                turn("Ben", "D1:2", "My parrot Kiwi is three years old."),
            ],
            "session_3_date_time": "1:00 pm on 9 July, 2023",
            "session_4": [],
        },
        "qa": [
            {"question": "When did Ada go to the class?", "answer": "7 May 2023", "evidence": ["D1:1"], "category": 2},
            {"question": "How old is Kiwi?", "answer": 3, "evidence": ["D1:02"], "category": 4},
            {"question": "What did Ben pay for?", "answer": "The kiln", "evidence": ["D2:1; D2:2"], "category": 1},
            {"question": "What is Ada like?", "answer": "creative", "evidence": ["D", "D9:9"], "category": 3},
            {
                "question": "How old is Ada's parrot?",
                "adversarial_answer": "three years old",
                "evidence": ["D1:2"],
                "category": 5,
            },
            {
                "question": "Is Kiwi Ada's?",
                "answer": "No",
                "adversarial_answer": "Yes",
                "evidence": ["D1:2"],
                "category": 5,
            },
            {"question": "How old is Kiwi?", "answer": "3", "evidence": ["D1:2"], "category": 4},
            {"question": "Lost?", "evidence": [], "category": 4},
            {"question": "Odd?", "answer": "x", "evidence": [], "category": 7},
        ],
    }  # fmt: skip


def lme_item(id: str = "q1", **changes: Any) -> dict[str, Any]:
    item: dict[str, Any] = {
        "question_id": id,
        "question_type": "multi-session",
        "question": "How many fish are there in my tanks?",
        "answer": 17,
        "question_date": "2023/05/27 (Sat) 17:21",
        "haystack_dates": [
            "2023/05/27 (Sat) 18:16", "2023/05/22 (Mon) 10:50", "2023/05/20 (Sat) 02:21",
            "2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00",
        ],
        "haystack_session_ids": ["answer_7_2", "answer_7_1", "filler_1", "filler_1", "filler_2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "The big tank has 7 now.", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
            ],
            [
                {"role": "user", "content": "  "},
                {"role": "user", "content": "I put 10 fish into the small tank.", "has_answer": True},
                {"role": "assistant", "content": "Good."},
            ],
            [{"role": "user", "content": "Tell me a joke."}, {"role": "assistant", "content": "No."}],
            [{"role": "user", "content": "Tell me a joke."}, {"role": "assistant", "content": "No."}],
            [],
        ],
        "answer_session_ids": ["answer_7_1", "answer_7_2"],
    }  # fmt: skip
    item.update(changes)
    return item


def written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
