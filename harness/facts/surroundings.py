"""A value in its sentence, as the rules of `negation`, `past` and `assertion` look at it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from harness.facts.answer import AnswerText
from harness.facts.blocks import heading_of
from harness.facts.patterns import lexicon
from harness.facts.sentences import CONTRACTED, Sentence, Span

_REACH = 320

# ---- the words that the rules begin with ----------------------------------------------

# What a negation can begin with.
NEGATING = lexicon(
    "rather instead opposed other except excluding unlike without anything anywhere anyone anybody anytime anyday no used "
    "formerly "
    "doubt doubts doubted denied denies deny ruled rules decided false incorrect untrue not never cannot neither nor "
    "nobody none "
    "nowhere hardly unable stopped ceased gave dont doesnt didnt isnt wasnt arent wont cant couldnt n't"
)
# What a predicate that denies the value cannot do without.
DENYING = lexicon(
    "not never n't no cannot wrong incorrect false invalid misread mistaken mistakenly mistook mistake error typo void "
    "impossible too question"
)
MISLABELLING = lexicon("wrong incorrect false invalid misread mistaken mistakenly mistook")
# What calls the value after it past.
PAST = lexicon(
    "previously previous formerly former originally original initially initial old older earlier prior first before from "
    "replaces replaced replacing supersedes superseded superseding instead longer been left once last outdated cancelled "
    "canceled withdrawn "
    "discarded rejected"
)
# What calls the value before it past.
PASSED = PAST | lexicon(
    "misread replaced superseded moved changed corrected dropped pushed rescheduled void gone off out updated became went rose "
    "postponed released refused declined turned given slipped shifted stopped discontinued ended table rough guess estimate mistake typo slip until used"
)
# What says that somebody changed it.
CHANGING = lexicon(
    "raised lifted lowered moved changed updated corrected increased reduced cut dropped bumped pushed replaced rescheduled "
    "switched upgraded doubled extended postponed shifted delayed but until though then brought put took stopped"
)
# What says that something else holds now, and what takes a value back.
RENEWING = lexicon(
    "now currently today nowadays days as since changed moved raised updated corrected replaced later then"
)
CORRECTING = lexicon("sorry apologies actually mean correction scratch wait make rather")
HEDGING = lexicon(
    "probably maybe perhaps possibly think believe guess might may could likely seem seems appear appears not unsure presumably "
    "apparently"
)
BOUNDING = lexicon("before after prior more over less under above below fewer")
# What puts something else in the place of the value.
GIVING_WAY = lexicon(
    "superseded replaced rescheduled moved changed pushed raised lowered cut reduced increased updated corrected now ignore "
    "disregard"
)
# What can undo a claim …
CLAIM_CUES = frozenset({"from", "if", "whether", "which", "according"}).union(
    NEGATING, DENYING, MISLABELLING, CORRECTING, HEDGING, BOUNDING, GIVING_WAY
)
# … and what can set aside a wrong one.
WRONG_CUES = CLAIM_CUES.union(PASSED, CHANGING, RENEWING)


class Surroundings:
    """A value in its sentence; the rules look no further than `_REACH` characters around it.

    Attributes:
        text: the folded answer.
        cased: the same with its case kept.
        start: where the value begins.
        end: where it ends.
        left: the sentence up to the value.
        right: the sentence after it.
        closing: where its sentence ends.
        words: the words of its sentence.
        cues: those of them that some rule begins with.
        is_text: whether the value is a phrase, and no typed value.
    """

    __slots__ = (
        "cased",
        "closing",
        "cues",
        "end",
        "is_text",
        "left",
        "opening",
        "right",
        "start",
        "text",
        "words",
    )

    def __init__(
        self,
        answer: AnswerText,
        span: Span,
        first: Sentence,
        last: Sentence,
        *,
        is_text: bool,
        is_wrong: bool,
    ) -> None:
        self.text = text = answer.text
        self.cased = answer.cased
        self.start, self.end = span
        self.words = first.vocabulary if last is first else first.vocabulary | last.vocabulary
        if is_wrong or last is not first:
            self.cues: AbstractSet[str] = self.words & (WRONG_CUES if is_wrong else CLAIM_CUES)
        else:
            self.cues = first.cues(CLAIM_CUES)
        self.is_text = is_text
        self.opening = max(first.start, self.start - _REACH)
        self.closing = min(last.end, self.end + _REACH)
        self.left = text[self.opening : self.start]
        self.right = text[self.end : self.closing]

    def places_before(self, words: AbstractSet[str], reach: int = _REACH) -> list[int]:
        """Return where some of its `words` begin in the sentence before the value, the nearest first."""
        text, low = self.text, max(self.opening, self.start - reach)
        found = []
        for word in words:
            at = text.rfind(word, low, self.start)
            while at >= 0:
                end = at + len(word)
                if (word == CONTRACTED or not text[at - 1 : at].isalpha() or not at) and not text[
                    end : end + 1
                ].isalpha():
                    found.append(at)
                at = text.rfind(word, low, end - 1)
        if len(found) > 1:
            found.sort(reverse=True)
        return found

    @property
    def beginning(self) -> int:
        """Where the value begins, or the bracket that holds nothing else: `the old one (X)`."""
        is_bracketed = self.left.endswith("(") and self.right.startswith(")")
        return self.start - is_bracketed

    def heading(self) -> tuple[str, str]:
        """Return what stands over the value, and over the other columns of its table."""
        return heading_of(self.text, self.start)
