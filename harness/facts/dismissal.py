"""Is a wrong value named only to be set aside?

These rules are looked at for a wrong or superseded value alone: a right answer often tells
how things came to be (`May 14 was offered but didn't suit you`), and that states nothing
wrong. For the value asked for they decide nothing.

- ignored, ruled out, hoped for, told by mistake: `ignore X` · `you'd hoped for X`
- off, impossible, over: `X is off` · `X can't be kept` · `you may remember X; that no longer holds`
- offered and refused, said and corrected: `offered X, which you couldn't do` · `said X, a slip`
- somebody else's: `X is the neighbor's` · `X is Gretchen's, not yours`
- only if a paper says so: `if the letter shows X, it was drafted from earlier terms`
- of another time, beside what holds now: `In 2021 you lived in X` · `January: X`
- under a heading or in a column that says so: `No longer valid: X` · `| First said | Final |`
"""

from __future__ import annotations

from harness.facts.patterns import LazyPattern, lexicon
from harness.facts.surroundings import Surroundings

_REACH = 100
_WORDS_BEFORE = lexicon(
    "ignore disregard forget scrap drop avoid miss missed misses rule rules ruled ruling gave given giving turned declined "
    "refused misread mistaken confuse confused confusing hoped hoping assumed assuming aiming counting thought thinking "
    "expected expecting telling advertised advertising announced planned wanted booked told promised said slipped guessed "
    "mistakenly wrongly nearly almost looked offered proposed n't"
)
_BEFORE = LazyPattern(
    r"(?:ignore|disregard|forget|scrap|drop|avoid|miss(?:ed|es)?|g(?:ave|iven|iving) up|turned down|declined|refused|"
    r"rul(?:e|es|ed|ing) out|misread(?: as)?|mistaken for|mistakenly|wrongly|slipped(?: and said)?|guessed|"
    r"nearly \w+|almost \w+|looked like|confus(?:e|ed|ing)\s+\w+\s+with|hop(?:ed|ing)|assum(?:ed|ing)|aiming|counting on|"
    r"thought|thinking|expected|expecting|telling|advertis(?:ed|ing)|announced|"
    r"(?<=\bhad\s)(?:planned|wanted|booked|told|promised|said)|(?<='d\s)(?:planned|wanted|booked|told|promised)|"
    r"n't (?:use|copy|go by|rely on|quote))\b[^.;:()]{0,45}$"
)
# What is said of the value stays close to it: no comma in between.
_OFF = LazyPattern(
    r"[^.,;:()]{0,50}?\b(?:(?:is|was|are|'s)\s+(?:now\s+)?(?:off|out|gone|over|lost|dead|void|too (?:early|soon|late)|impossible|"
    r"no good|unrealistic|not going to happen|not possible)\b"
    r"|(?:isn't|is not|can't|cannot|won't|can no longer|couldn't)\s+(?:be\s+(?:kept|met|made|held|used|done)|work|hold|stand|"
    r"happen|stay|possible|realistic|feasible|achievable)\b|no longer\b|(?:fell|falls) through\b)"
)
# The next clause or sentence takes it back.
_THAT_IS_OFF = LazyPattern(
    r"[^.;!?\x00\x01]{0,60}?[,.;:–—-]+\s*(?:but\s+|though\s+)?(?:that|this|it)(?:'s|\s+(?:one|date|day|price|number|figure|is|was|has))*\s+"
    r"(?:no longer|isn't|is not|not|wrong|a mistake|changed|since|off|didn't|fell|never|outdated|old|the (?:first|old|wrong|\w+ing)\b)"
)
# What makes a value one that was offered and refused, said and corrected, in one sentence.
_REJECTED = LazyPattern(
    r"[^.!?\x00\x01]{0,160}?\b(?:declined|refused|rejected|turned\s+(?:it|that|them|this|her|him)?\s?down|(?:gave|given)\s+(?:it|that|this)?\s?up|"
    r"withdrawn|withdrew|crossed\s+(?:it|that)?\s?out|misread\w*|misspoke\w*|misheard|by mistake|in error|slip|slipped|typo|"
    r"mis-?added|backwards|mix-?up|correct(?:ed|ing)|put (?:it|that) right|apolog\w+|didn't suit|couldn't (?:do|make)|"
    r"said no|released|fell through|called off|not yours|neither of (?:those|these|them)|none of (?:those|these|them))\b"
)
_REJECTIONS = lexicon(
    "declined refused rejected turned gave given withdrawn withdrew crossed misread misreading misreadings misspoke misspoken "
    "misheard mistake error slip slipped typo misadded added backwards mix corrected correcting put apologies apology apologise "
    "apologize suit couldn't said released fell called yours neither none"
)
_SOMEONE_ELSES = LazyPattern(
    r"(?:,\s*which\b[^,.;]{0,60})?,?\s*(?:is|was|are|were)\s+(?:just\s+|only\s+|really\s+|actually\s+|for\s+)*(?:the\s+|your\s+(?=\w+'s))?(?!today|tomorrow|"
    r"yesterday)[\w-]+'s\b"
)
_FOR_ANOTHER = LazyPattern(
    r"(?:[^.,;:!?]{0,50}?\b(?:was|were)|[^.;:!?]{0,50}?\bwhich (?:is|was))\s+(?:only\s+)?for\s+(?:the|another|a different)\b"
)
_ELSES_LABEL = LazyPattern(r"\((?:[\w'-]+\s+){0,3}[\w-]+'s\s+(?:\w+\s+)?(?:is|was|one is)\s+$")
_IF_IT_SAYS = LazyPattern(
    r"\bif\s+(?:it|they|you|anyone|someone|(?:the|your)\s+\w+)\s+(?:still\s+)?(?:says?|shows?|sees?|reads?|lists?|quotes?|"
    r"mentions?|hears?|turns? up with)\b[^.;:]{0,90}$"
)
_UNDER = LazyPattern(
    r"\b(?:forget|ignore|disregard|cross out|drop|outdated|superseded|no longer|not (?:valid|current)|invalid|wrong)\b[^.:]{0,40}:[^.!?]*$"
)
_ACTUALLY = LazyPattern(r"[^.!?\x00\x01]{0,40}?[;,–—-]\s*(?:[\w'-]+\s+){0,4}(?:actually|in fact|really)\b")
_SAME_GOES = LazyPattern(r"\b(?:same|likewise|so)\s+(?:goes|is true|applies)\s+(?:for|to)\b[^.;:]{0,40}$")
# `In 2021 you lived in X`, `January: X` beside what holds today.
_DATED_PAST = LazyPattern(
    r"\b(?:in|back in|during|until)\s+(?:(?:early|late|mid)[\s-])?(?:\w+\s+)?(?:19|20)\d\d\b[^.;]{0,40}\b(?:was|were|lived|moved|had|"
    r"worked|paid|stood|\w{3,}ed)\b[^.;]{0,20}$"
)
_DATED_LABEL = LazyPattern(
    r"[\W]*(?:in\s+)?(?:(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|"
    r"fall|winter)(?:\s+(?:19|20)\d\d)?|(?:19|20)\d\d|last (?:year|month|week))\W*[:–—|-]\s*$"
)
_TODAY = LazyPattern(r"\b(?:today|now|currently|current|at present)\b")
_MAY_HAVE_CHANGED = LazyPattern(
    r"[^.!?]{0,60}?\b(?:may|might|could)\s+(?:well\s+)?have\s+(?:since\s+)?(?:been\s+)?(?:changed|moved|gone)\b"
)
_HEADING = LazyPattern(
    r"\b(?:old|previous|previously|former|formerly|first (?:said|told|given|quoted|offered|offer|version|reading|read)|at first|"
    r"initial|initially|original|originally|before|earlier|superseded|outdated|obsolete|no longer|not valid|invalid|wrong|misread|"
    r"incorrect|ignore|disregard|forget|cancelled|canceled|replaced|rejected|declined|dropped|discarded|was|past)\b"
)
# Beside a column of final values every other one is history.
_FINAL = LazyPattern(r"\b(?:final|current|currently|now|new|latest|today|agreed|corrected|updated|actual)\b")


def is_dismissed(value: Surroundings) -> bool:
    """Say whether the answer names the value only to set it aside."""
    text, start, right = value.text, value.start, value.right
    near = value.left[-_REACH:]
    if any(
        [_BEFORE.match(text, at, start) for at in value.places_before(value.words & _WORDS_BEFORE, _REACH)]
    ):
        return True
    if not value.words.isdisjoint(_REJECTIONS) and _REJECTED.match(text, value.end, value.closing):
        return True
    if (
        _OFF.match(right)
        or _THAT_IS_OFF.match(text, value.end, value.end + 160)
        or _MAY_HAVE_CHANGED.match(right)
    ):
        return True
    if _ACTUALLY.match(right) or _SAME_GOES.search(near):
        return True
    if _SOMEONE_ELSES.match(right) or _FOR_ANOTHER.match(right) or _ELSES_LABEL.search(near):
        return True
    if ("if" in value.words and _IF_IT_SAYS.search(near)) or (
        ":" in value.left and _UNDER.search(value.left)
    ):
        return True
    if _DATED_PAST.search(near) or (_DATED_LABEL.match(value.left) and _TODAY.search(text, value.closing)):
        return True
    own, others = value.heading()
    if _HEADING.search(own):
        return True
    return _FINAL.search(others) is not None and not _FINAL.search(own)
