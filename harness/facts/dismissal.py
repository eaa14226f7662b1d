"""Is a wrong value named only to be set aside?

These rules are looked at for a wrong or superseded value alone: a right answer often tells
how things came to be (`May 14 was offered but didn't suit you`), and that states nothing
wrong. Except for headings they decide nothing about the value asked for.

- ignored, ruled out, hoped for, told by mistake: `ignore X` · `you'd hoped for X` · `beware of X`
- off, impossible, over: `X is off` · `X can't be kept` · `you may remember X; that no longer holds`
- offered and refused, said and corrected: `offered X, which you couldn't do` · `said X, a slip`
- followed by what it became: `X, later cut to Y` · `set for X. The new date is Y`
- somebody else's: `X is the neighbor's` · `X is Gretchen's, not yours`
- the standard, beside an exception: `the standard is X, but yours was raised`
- only if a paper says so: `if the letter shows X, it was drafted from earlier terms`
- of another time, beside what holds now: `in 2021 you lived in X` · `January: X`
- beside another value, in brackets: `9:30 PM (10 PM was summer hours)`; as a step of a sum
- under a heading or in a column that says so: `No longer valid: X` · `| First said | Final |`
"""

from __future__ import annotations

from harness.facts.patterns import MONTHS, LazyPattern, lexicon
from harness.facts.surroundings import Surroundings
from harness.facts.whose import belongs_to_another, is_about

_REACH = 100
# Up to the value, in the clause that the cue stands in.
_TO_VALUE = (
    r"\b(?:(?!\bbut\b|\bso\b|,\s+(?:you|he|she|it|they|we|i|your|the \w+ (?:is|was))\b)[^.;:()]){0,45}\Z"
)

# ---- before the value -----------------------------------------------------------------

_WORDS_BEFORE = lexicon(
    "ignore disregard forget scrap drop avoid miss missed misses rule rules ruled ruling gave given giving turned declined "
    "refused passed misread misspoke mistaken confuse confused confusing hoped hoping assumed assuming aiming counting thought "
    "thinking expected expecting telling advertised advertising announced planned wanted booked told promised said slipped "
    "would've could've place take takes taken took leave "
    "guessed stopped started stood begun mistakenly wrongly withdrew moved moves move nearly almost looked considered beware watch careful would could wouldn't didn't n't",
    "offered revised",
)
_BEFORE = LazyPattern(
    r"(?:ignore|disregard|forget|scrap|drop|avoid|miss(?:ed|es)?|g(?:ave|iven|iving) (?:up|back)|turned down|declined|refused|passed on|"
    r"rul(?:e|es|ed|ing) out|misread(?: as)?|misspoke and said|mistaken for|mistakenly|wrongly|slipped and said|guessed|"
    r"withdrew|move[sd]?(?: it)? off|considered|beware(?: of)?|watch out for|careful|nearly \w+|almost \w+|looked like|confus(?:e|ed|ing)\s+\w+\s+with|"
    r"hop(?:ed|ing)|assum(?:ed|ing)|aiming|counting on|thought|thinking|expected|expecting|telling|advertis(?:ed|ing)|announced|"
    r"(?<=\bhad\s)(?:planned|wanted|booked|told|promised|said|offered|stopped|started|stood|begun)|(?<='d\s)(?:planned|wanted|booked|told|promised)|"
    r"(?:take[ns]?|took) the place of|(?<=\bin\s)place of|(?<=\bin\sthe\s)place of|leave (?=the\b|your\b|out\b)|(?:would|could)(?: have|'ve) \w+|(?:wouldn't|didn't) (?:approve|accept|allow|grant|"
    r"agree to)|revised|"
    rf"n't (?:use|copy|go by|rely on|quote)){_TO_VALUE}"
)
_NOT_BEFORE = LazyPattern(r"(?:n't|\bnot|\bnever|\bnothing)\s+\Z")
_CHOSEN_OVER = LazyPattern(
    r"\b(?:chose|picked|preferred|took|went with)\b[^.;:]{1,40}\b(?:over|to|rather than)\s+(?:the\s+)?\Z"
)
_STAGE = LazyPattern(
    r"(?:\bthan\s+(?:first|originally)\s+\w+\s*\(?|\b(?:first|initial|original|early|earlier)(?:\s+\w+){0,2}\s*(?::|was|of)"
    r"|(?:\bhad|'d)\s+(?:first|originally|initially|once)\s+\w+(?:\s+(?:down|up|in|it|as|on|at|for|the)){0,2}"
    r"|\b(?:couldn't|can't|cannot|could not)\s+(?:make|do|manage)(?:\s+(?:it|on|the|\w+day))*|\b(?:early in|at the start of|start of|beginning of|at the beginning of)\s+(?:the\s+|your\s+)?\w+\s*[:,]"
    r"|\b(?:at the time|back then|back in \w+|back when)\b[^.;:]{0,60}|\bwhen\b[^.;:]{0,40}\b(?:was|were) still\b[^.;:]{0,20})\s*\Z"
)
_OFFERED = LazyPattern(
    r"\b(?:offered|proposed|suggested|promised|quoted|mentioned|say|said|read|showed|gave|named)\b[^.;:,]{0,40}\Z"
)
_BUT_NEXT = LazyPattern(r"[^.;:!?]{0,40}?,\s+but\b")
_MAY_STILL_SAY = LazyPattern(
    r"\b(?:may|might)\s+(?:still\s+|also\s+|well\s+)?(?:have\s+)?(?:say|show|read|list|written|heard|seen|noted)\b[^.;:]{0,30}\Z"
)
_CROSS = LazyPattern(r"[❌✗✘🚫]\s*[^.;:\n]{0,40}\Z")

# ---- after the value ------------------------------------------------------------------

# What is said of the value stays close to it: no comma in between.
_OFF = LazyPattern(
    r"(?:[^.,;:()]|(?<=\b[dm]r)\.|(?<=\bmrs)\.|(?<=\d):(?=\d)){0,50}?\b(?P<cue>(?:is|was|are|'s|would be)\s+(?:now\s+)?(?:an?\s+\w+\s+)?(?:off|out|gone|over|lost|"
    r"dead|void|sold out|out of stock|backordered|unavailable|too (?:early|soon|late)|impossible|closed|full|undone|"
    r"no good|unrealistic|not going to happen|not possible)\b"
    r"|(?:isn't|is not|can't|cannot|won't|can no longer|couldn't|didn't|doesn't)\s+(?:be\s+(?:kept|met|made|held|used|done)|work|"
    r"hold|stand|happen|stay|suit|apply|count|possible|realistic|feasible|achievable)\b|no longer\b|(?:fell|falls) (?:through|away)\b|lapsed\b|"
    r"(?:is|was) what (?:it|you|he|she|they) \w+(?: \w+){0,3} (?:before|at first|until|then|last)\b"
    r"|(?:was|were) (?:first |once )?(?:suggested|offered|proposed|mentioned|considered)\b[^.;:]{0,30}\bbut\b|ended\b|died\b|fell victim\b|has nothing to do with\b"
    r"|(?:has|have|had|carries|carried) no (?:weight|say|effect|force|bearing|standing)\b|(?:was|were) (?:(?:figured|counted|calculated|worked out|quoted|given|read out) )?without\b"
    r"|(?:has|have|had) been (?:closed|extended|undone|taken back|put off)\b"
    r"|(?:was|were) taken back\b|(?:got|had to be) (?:moved|pushed|taken back|undone|put off|changed)\b|clash(?:es|ed)\b|"
    r"belongs to (?!you\b)|turn(?:ed|s) out\b|never\s+(?:went|came|happened|took|got|arrived|applied|was|existed|materiali[sz]ed)\b)"
)
# `X would have been for the hall`: it was not to be.
_WOULD_HAVE = LazyPattern(r"\s*,?\s*would(?:'ve| have)\b")
# `August 1, as you're away on X`: the reason for the value before it.
_AWAY = LazyPattern(
    r"\d[^.;:]{0,60}\b(?:as|since|because)\s+[^.;:0-9]{0,40}\b(?:away|closed|taken|busy|booked up|full|gone|on holiday)\b[^.;:0-9]{0,20}\Z"
)
# `you looked at X but took Y`
_BEGAN = LazyPattern(
    r"\b(?:look(?:ed|ing) (?:at|into)|start(?:ed|ing) (?:at|with|on|off|out)|beg(?:an|un) (?:at|with)|tried)\b[^.;:,]{0,30}\Z"
)
_BUT_THEN = LazyPattern(r"[^.;:!?]{0,30}?,?\s+(?:but|and then|before)\b")
# The next clause or sentence takes it back.
_THAT_IS_OFF = LazyPattern(
    r"[^.;!?\x00\x01]{0,60}?[,.;:–—-]+\s*(?:(?:but|though|apologies|my apologies|sorry|oops|no|actually),?\s+)?(?:that|this|it)"
    r"(?:'s|\s+(?:one|date|day|price|number|figure|is|was|has))*\s+"
    r"(?:no longer|isn't|is not|not|wasn't|wrong|a mistake|later|since|off|didn't|fell|never|outdated|old|changed|"
    r"the (?:first|old|wrong|earlier|previous|\w+ing)\b)"
)
_REJECTIONS = lexicon(
    "declined refused rejected turned gave given withdrawn withdrew crossed cross misread misreading misreadings misspoke misspoken "
    "misheard mistake error slip slipped typo misadded added backwards mix corrected correcting put apologies apology apologise "
    "apologize suit couldn't said released fell called yours neither none swapped transposed wrong fixed caught took take forgot "
    "overlooked ignored ignore disregard forget left retired allow possible need how what chose choose picked went dropped superseded out early soon late"
)
# What makes a value one that was offered and refused, said and corrected, in one sentence.
_REJECTED = LazyPattern(
    r"(?:[^.!?\x00\x01]|(?<=\b[dm]r)\.|(?<=\bmrs)\.|(?<=\d)\.(?=\d)){0,160}?\b(?P<cue>declined|refused|rejected|turned\s+(?:it|that|them|this|her|him)?\s?down|(?:gave|given)\s+(?:it|that|this)?"
    r"\s?up|withdrawn|withdrew|cross(?:ed)?\s+(?:it|that)?\s?out|misread\w*|misspoke\w*|misheard|by mistake|in error|an? (?:\w+ )?error|"
    r"(?:a|his|her|their|my|your|'s) slip|slip of|slipped|typo|mis-?added|backwards|mix-?up|correct(?:ed|ing)|put (?:it|that) right|apolog\w+|didn't suit|couldn't (?:do|make)|"
    r"which (?:isn't|is not|wasn't|was not) (?:how|what|where|when|the right)|(?:that|which) (?:he|she|you|they|it) (?:doesn't|don't|didn't) need|"
    r"said no|released|fell through|called off|swapped out of|not yours|neither of (?:those|these|them)|none of (?:those|these|them)|swapped|"
    r"transposed|(?:got|was|is|were) (?:it )?wrong|(?:fixed|caught) (?:it|that)|t(?:ook|ake) (?:it|that) back|forgot|overlooked|ignored|"
    r"left out|didn't allow for|turned out|which is too (?:early|soon|late)|(?:wasn't|not) possible|"
    r"but (?:you|he|she|they) (?:chose|picked|took|went)|and went with|was dropped|"
    r"so (?:please )?(?:ignore|disregard|forget) (?:it|them|(?:that|this)(?: one)?(?=\s*[.,;!)]|\Z))(?! )|left for (?:later|next|spring|summer|autumn|fall|winter|another)|retired|superseded)\b"
)
_TO_ANOTHER = (
    r"(?:cut|raised|moved|changed|lowered|reduced|increased|corrected|updated|revised|pushed|rescheduled|slipped|bumped|shifted|made|set|put(?:\s+(?:it|that))?\s+off)"
    r"\s+(?:it\s+)?(?:back\s+|up\s+|down\s+|off\s+)?(?:by\s+(?:\w+\s+){1,3})?(?:to\b|:|→)"
)
_BECAME = LazyPattern(
    rf"[^.;!?\n\x00\x01]{{0,12}}?(?:\s?(?:→|->)|,?\s*(?:and\s+)?(?:(?:then|later|since|subsequently|was|were|been)\s+)*{_TO_ANOTHER}"
    r"|,?\s+(?:and|but)\s+(?:then|later|finally)\b|,\s+(?:then|later)\s+)"
)
_NEXT_CHANGES = LazyPattern(
    rf"[^.;!?\x00\x01]{{0,60}}[.;!?\x00\x01]+\s*[^.;!?\x00\x01]{{0,80}}?(?:{_TO_ANOTHER}|\bthe new \w+ is\b|\brescheduled:)\s*"
    r"(?P<other>[^.!?\x00\x01]{0,24})"
)
_A_VALUE_NEXT = (
    r"(?:\s+(?:you|me|us|him|her|them))?(?:\s+(?:it|on|at|for|the|a|was|as))*\s+(?:[$€£₹]\s?\d|\d{1,2}:\d\d|\d{1,2}\s?[ap]\.?m\b|"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?:{MONTHS})[a-z]*\b)"
)
_HAD = LazyPattern(
    r"\s+(?:he|she|they|you|i)\s+(?:(?:were|was)\s+)?(?:first|originally|initially)\s"
    r"|\s+(?:he|she|they|you|i)\s+(?:named|said|read|gave|quoted|wrote|put|offered)\s+(?:at\s+)?first\b"
    r"|\s+[\w'-]+\s+(?:first|originally|initially)\s+(?:had|quoted|said|gave|offered|thought|named|read|wrote|put|guessed)\b|[^.;]{0,50}?\b(?P<cue>had|'d)\s+(?:first\s+|"
    r"originally\s+)?(?:offered|agreed|quoted|said|told|promised|planned|booked|written|settled)\b"
    rf"(?!{_A_VALUE_NEXT})"
)
_ACTUALLY = LazyPattern(r"[^.!?\x00\x01]{0,40}?[;,–—-]\s*(?:[\w'-]+\s+){0,4}(?:actually|in fact|really)\b")
# `he read it upside down as X first`, `the slip says X, but it was written before`
_MISREAD = LazyPattern(
    r"\b(?:read|wrote|typed|said|gave|heard|put|named|quoted|listed|noted)\b[^.;:,0-9]{0,40}\Z"
)
_FIRST = LazyPattern(r"\s+(?:at\s+)?first\s*(?:[),.;:]|\b(?:and|but|then)\b)")
_SAYS = LazyPattern(r"\b(?:says?|shows?|reads?|lists?)\b[^.;:,0-9]{0,40}\Z")
_BUT_IT_WAS = LazyPattern(
    r"(?:\s+[a-z]{1,12})?,\s+but\s+(?:it|that|this|they)(?:'s|\s+(?:was|were|is|are|had|has))\b"
)
# `X was on the 2023 sheet`, `X from an old booklet`, `the sign still says X`: no other value may stand between.
_PAPER = (
    r"(?:sheet|page|list|table|chart|booklet|leaflet|brochure|letter|slip|sign|notice|calendar|schedule|timetable|plan|contract|"
    r"agreement|policy|terms|rules|quote|estimate|bill|invoice|draft|version|form|row|column|line|carrier|rate|price|system|map)s?"
)
_OLD_SOURCE = LazyPattern(
    r"[^.;:,!?0-9]{0,40}?\b(?:on|from|off|in|under|with|by)\s+(?:(?:the|that|this|an?|your|his|her|their)\s+)?(?:same\s+|very\s+)?"
    rf"(?:(?:old|older|wrong|printed|outdated|former|previous|last\s+year's)\s+[a-z]|(?:first|(?:19|20)\d\d)\s+{_PAPER}\b)"
)
_OLD_SOURCE_SAYS = LazyPattern(
    r"\b(?:old|outdated|printed|previous|former)\s+[^.;:,0-9]{0,40}\b(?:says?|said|shows?|showed|reads?|lists?|has|had|gives?)\b"
    r"[^.;:,0-9]{0,40}\Z|\bstill\s+(?:says?|shows?|reads?|lists?|thinks?)\b[^.;:,0-9]{0,40}\Z"
    rf"|\b(?:with|under|by|on|in|from)\s+(?:the\s+|an\s+|your\s+)?(?:old|outdated|previous|former)\s+(?:\w+\s+)?{_PAPER}\b"
    r"[^.;:,0-9]{0,30}\Z|\b(?:throw\s+(?:out|away)|toss|bin|cross\s+out)\b[^.;:,0-9]{0,40}\Z"
)
_MAY_HAVE_CHANGED = LazyPattern(
    r"[^.!?]{0,60}?\b(?:may|might|could)\s+(?:well\s+)?have\s+(?:since\s+)?(?:been\s+)?(?:changed|moved|gone)\b"
)

# ---- somebody else's, or the standard -------------------------------------------------

_SOMEONE_ELSES = LazyPattern(
    r"(?:,\s*which\b[^,.;]{0,60}|\s+(?:that\s+)?(?:he|she|they|you|i)\s+(?:\w+\s+){1,3}?)?,?\s*(?:is|was|are|were)\s+"
    r"(?:just\s+|only\s+|really\s+|actually\s+|for\s+|the\s+day\s+of\s+)*"
    r"(?:the\s+|your\s+(?=\w+'s))?(?:[\w-]+\s+)?(?!today|tomorrow|yesterday)[\w-]+'s\b|\s*(?:is|was)\s+(?:only|just)\s+(?:for|a|an|the)\b"
)
_FOR_ANOTHER = LazyPattern(
    r"\s*(?:is|was|are|were)\s+(?:only\s+|for\s+|just\s+)*another\b"
    r"|(?:[^.,;:!?(]{0,50}?\b(?:was|were)|[^.;:!?]{0,50}?\bwhich (?:is|was))\s+(?:the price\s+)?(?:only\s+)?"
    r"for\s+(?:the|another|a different)\b"
)
_ELSES_LABEL = LazyPattern(
    r"\((?:[\w'-]+\s+){0,3}[\w-]+'s\s+(?:\w+\s+)?(?:is|was|one is)\s+\Z"
    r"|\b(?:neighbou?r|colleague|wife|husband|son|daughter|brother|sister|mother|father|friend|partner|tenant|boss|child)'s\b[^.;:()]{0,30}\Z"
)
_STANDARD = LazyPattern(
    r"\b(?:standard|default|usual|usually|normal|normally|regular|list price|comes? set at|come with|comes with|starts? at)\b(?:(?!\bbut\b)[^.;]){0,40}\Z"
)
_IS_STANDARD = LazyPattern(
    r"[^.,;]{0,30}?\b(?:is|was)\s+(?:just\s+|only\s+)?(?:the\s+|a\s+)?(?:standard|default|usual|normal)\b|"
    r"[^.,;]{0,20}?\bwhat\b[^.,;]{0,40}?\bby default\b"
)
_EXCEPTION = LazyPattern(
    r"\b(?:yours|but|raised|bumped|lifted|higher|above|more than|less|minus|instead|for you|your own)\b|\)"
)

# ---- elsewhere ------------------------------------------------------------------------

_IF_IT_SAYS = LazyPattern(
    r"\bif\s+(?:it|they|you|anyone|someone|(?:the|your)\s+\w+)\s+(?:still\s+)?(?:says?|shows?|sees?|reads?|lists?|quotes?|"
    r"mentions?|hears?|turns? up with|wrote)\b[^.;:]{0,90}\Z"
)
_UNDER = LazyPattern(
    r"(?<!n't\s)(?<!\bnot\s)\b(?:forget|ignore|disregard|cross out|drop|outdated|superseded|no longer|"
    r"not (?:valid|current)|invalid|(?<!go\s)wrong)\b"
    r"[^.:]{0,40}:[^.!?]*\Z"
)
_DIGIT = LazyPattern(r"\d")
_SAME_GOES = LazyPattern(r"\b(?:same|likewise|so)\s+(?:goes|is true|applies)\s+(?:for|to)\b[^.;:]{0,40}\Z")
# `In 2021 you lived in X`, `January: X` beside what holds today.
_DATED_PAST = LazyPattern(
    r"\b(?:in|back in|during|until)\s+(?:(?:early|late|mid)[\s-])?(?:\w+\s+)?(?:19|20)\d\d\b[^.;]{0,40}\b(?:was|were|lived|moved|had|"
    r"worked|paid|stood|\w{3,}ed)\b[^.;]{0,20}\Z"
)
_DATED_LABEL = LazyPattern(
    r"[\W]*(?:in\s+)?(?:(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|"
    r"fall|winter)(?:\s+(?:19|20)\d\d)?|(?:19|20)\d\d|last (?:year|month|week))\W*[:–—|-]\s*\Z"
)
_TODAY = LazyPattern(r"\b(?:today|now|currently|current|at present)\b")

_VOID = LazyPattern(
    r"\b(?:superseded|outdated|obsolete|no longer (?:valid|current|in force|true)|not (?:valid|current)|invalid|ignore|disregard|"
    r"cancelled|canceled|discarded|replaced)\b"
)
_HISTORY = LazyPattern(
    r"\b(?:old|previous|previously|former|formerly|first (?:said|told|given|quoted|offered|offer|version|reading|read)|at first|"
    r"initial|initially|original|originally|before|earlier|older|wrong|misread|mistaken|incorrect|forget|rejected|declined|dropped|was|past|no longer|"
    r"out of date|stale|overruled|ruled out|replaces|instead of|changed from|not (?:this|these|right|correct|it))\b|(?:\bset aside|(?:\bdo not|\bdon't) use(?: this| these| it)?|\A\W*not)\W*\Z"
)
# Beside a column of final values every other one is history.
_FINAL = LazyPattern(r"\b(?:final|current|currently|now|new|latest|today|agreed|corrected|updated|actual)\b")
_SHORT = 5  # words of an intro that is a heading


# `9:30 PM (10 PM was summer hours)`: what stands beside another value of its kind, in brackets.
_ASIDE_TELLS = LazyPattern(
    r"\b(?:was|were|is|are|had|said|says|showed|shows|before|plus|less|minus|not|old|earlier|previous|first|until|would|without|otherwise|instead|\w{3,}ed)\b"
)
_ASIDE_ADDS = LazyPattern(r"\b(?:or|also|either|alternatively|maybe|perhaps|possibly|likely|probably|same)\b")
# `$41,200 less the $4,500 deposit, so $36,700`: a step of a sum.
_STEP = LazyPattern(
    r"[^.;!?\x00\x01]{0,25}?\s(?:less|minus)\s+(?:the\s+|a\s+|an\s+|your\s+)?[$€£]?\d|"
    r"[^.;!?\x00\x01]{1,80}?,\s*(?:so|which (?:makes|leaves|is)|making(?: it)?|leaving)\s+(?:it's\s+|you\s+|it\s+)?[$€£]\s?\d|"
    r"\s*,?\s*(?:less|minus|plus|\+|−)\s[^.;!?\x00\x01]{1,120}?(?:\bso\b|\bmakes\b|\bleaves\b|\bcomes to\b|\bgives\b|\bthat's\b|=)"
    r"\s*(?:[\w']+\s+){0,3}?[$€£]?\d"
)
_NOT_JUST = LazyPattern(r"(?:\bnot|n't)\s+(?:just|only|merely)\s+(?:the\s+|a\s+)?\Z")
_BUT_THIS = LazyPattern(r"[^.;!?]{0,30},\s*(?:it's|it is|but)\b")
_WOULD_BE = LazyPattern(r"\bwould(?:'ve| have)?\s+(?:be|been|cost)\s+(?:the\s+|a\s+)?\Z")
_NOT_THAT = LazyPattern(r"(?:\bnot|n't)\s+(?:that|because)\b[^.;:,]{0,60}\Z")
_NOT_AT_ALL = LazyPattern(r"^\W*not\s+(?!only\b|just\b)[^.:;,]{0,60}\Z")
_NOT_THAT_ONE = LazyPattern(r",\s+not\s+(?:[\w'-]+\s+){1,4}(?:on|at|for|by)\s+(?:the\s+)?\Z")


def is_dismissed(value: Surroundings) -> bool:
    """Say whether the answer names a wrong value only to set it aside."""
    return (
        _is_turned_down(value)
        or _is_taken_back(value)
        or _is_elsewhere(value)
        or _is_conditional(value)
        or _is_under_history(value)
        or _is_aside(value)
    )


def is_void(value: Surroundings) -> bool:
    """Say whether a heading or the head of a column voids what stands under it, of any value."""
    own, others = value.heading()
    if _VOID.search(own):
        return True
    return bool(others) and _HISTORY.search(own) is not None and _FINAL.search(others) is not None


def _is_turned_down(value: Surroundings) -> bool:
    text, near = value.text, value.left[-_REACH:]
    for at in value.places_before(value.words & _WORDS_BEFORE, _REACH):
        if _BEFORE.match(text, at, value.beginning) and not belongs_to_another(value, at):
            is_reminder = text.startswith(("forget", "miss", "drop", "ignore"), at) and _NOT_BEFORE.search(
                text, max(0, at - 12), at
            )
            if not is_reminder:
                return True
    if "but" in value.words and _BUT_NEXT.match(value.right) and _OFFERED.search(near):
        return True
    if _CHOSEN_OVER.search(near) or _STAGE.search(near) or _MAY_STILL_SAY.search(near):
        return True
    return not text.isascii() and _CROSS.search(near) is not None


def _is_taken_back(value: Surroundings) -> bool:
    text, right, near = value.text, value.right, value.left[-_REACH:]
    if (
        not value.words.isdisjoint(_REJECTIONS)
        and (rejected := _REJECTED.match(text, value.end, value.closing))
        and is_about(value, rejected.span("cue"))
    ):
        return True
    for at in {value.end, _after_apposition(value)}:
        if (off := _OFF.match(text, at, value.closing)) and is_about(value, off.span("cue")):
            return True
    if _WOULD_HAVE.match(right):
        return True
    if ("but" in value.words or "before" in value.words or "then" in value.words) and (
        _BEGAN.search(near) and _BUT_THEN.match(right)
    ):
        return True
    if _AWAY.search(near):
        return True
    if _OLD_SOURCE.match(right) or _OLD_SOURCE_SAYS.search(near):
        return True
    if (had := _HAD.match(text, value.end, value.closing)) and (
        had["cue"] is None or is_about(value, had.span("cue"))
    ):
        return True
    if _BECAME.match(right) or _ACTUALLY.match(right) or (_MISREAD.search(near) and _FIRST.match(right)):
        return True
    if _SAYS.search(near) and _BUT_IT_WAS.match(right):
        return True
    if _THAT_IS_OFF.match(text, value.end, value.end + 160) or _MAY_HAVE_CHANGED.match(right):
        return True
    found = _NEXT_CHANGES.match(text, value.end, value.end + 220)
    return found is not None and _looks_like(text[value.start : value.end], found["other"])


def _after_apposition(value: Surroundings) -> int:
    """Return where the sentence goes on after the value: `the old quote, X, no longer …`, `the old quote (X) no longer …`."""
    if value.left.rstrip().endswith(","):
        return value.end + value.right.startswith(",")
    opened = value.left.rfind("(")
    if opened >= 0 and ")" not in value.left[opened:]:
        return value.end + value.right.find(")") + 1
    return value.end


def _is_aside(value: Surroundings) -> bool:
    """Say whether the value explains another one: in brackets beside it, as a step of a sum, or as `not that`."""
    near = value.left[-_REACH:]
    if (
        _STEP.match(value.right)
        or _NOT_THAT.search(near)
        or _NOT_THAT_ONE.search(near)
        or _NOT_AT_ALL.match(value.left)
    ):
        return True
    if _NOT_JUST.search(near) and _BUT_THIS.match(value.right):
        return True
    if _WOULD_BE.search(near) and _BUT_NEXT.match(value.right):
        return True
    opened = value.left.rfind("(")
    if opened < 0 or ")" in value.left[opened:]:
        return False
    inside = value.left[opened + 1 :] + " " + value.right.partition(")")[0]
    if _ASIDE_ADDS.search(inside) or not _ASIDE_TELLS.search(inside):
        return False
    beside = value.left[max(0, opened - _REACH) : opened]
    return value.is_text or _looks_like(value.text[value.start : value.end], beside)


def _looks_like(value: str, other: str) -> bool:
    """Say whether two strings could be values of one kind."""
    for sign in "$€£%":
        if sign in value or sign in other:
            return sign in value and sign in other
    return any(char.isdigit() for char in other) == any(char.isdigit() for char in value)


def _is_elsewhere(value: Surroundings) -> bool:
    """Say whether the value is somebody else's, or the standard that there is an exception from."""
    near, right = value.left[-_REACH:], value.right
    if _SOMEONE_ELSES.match(right) or _FOR_ANOTHER.match(right) or _ELSES_LABEL.search(near):
        return True
    if _IS_STANDARD.match(right):
        return True
    return (
        _STANDARD.search(near) is not None
        and (_EXCEPTION.search(near) or _EXCEPTION.search(right)) is not None
    )


def _is_conditional(value: Surroundings) -> bool:
    near = value.left[-_REACH:]
    if ("if" in value.words and _IF_IT_SAYS.search(near)) or (
        ":" in value.left and _UNDER.search(value.left) and not _DIGIT.search(value.left.rpartition(":")[0])
    ):
        return True
    if _SAME_GOES.search(near) or _DATED_PAST.search(near):
        return True
    return _DATED_LABEL.match(value.left) is not None and _TODAY.search(value.text, value.closing) is not None


def _is_under_history(value: Surroundings) -> bool:
    own, others = value.heading()
    if _VOID.search(own):
        return True
    if (others or len(own.split()) <= _SHORT) and _HISTORY.search(own):
        return True
    return _FINAL.search(others) is not None and not _FINAL.search(own)
