"""Where people correct themselves: a count of the words that such turns begin with.

It is a figure of the wording, not of the sense: a turn that takes something back without any of
these words is not seen, and "actually" may begin a turn that takes nothing back.
"""

from __future__ import annotations

import re

from harness.suite import Conversation

_CUES = re.compile(
    r"""(?ix)
      \b(?:no|oh|ah|wait|sorry|hang\ on|hold\ on)[,.!…—–]*\s*(?:no|wait|hang\ on|hold\ on|sorry|that's|it's|not|i\ mean|i'm)\b
    | \b(?:i|we)\ (?:meant|misread|misspoke|misheard|misremembered|mixed|was\ (?:wrong|looking)|got\ (?:that|it|those)\ wrong|take\ that\ back
        |tell\ a\ lie|stand\ corrected|put\ it\ in\ wrong|typed|swapped|skipped|slipped)\b
    | \b(?:scratch|strike|forget|cancel)\ (?:that|what|the)\b | \bmake\ (?:that|it)\b | \bcorrection\b | \bcorrect(?:ed|ing)?\ (?:that|myself|it|you)\b
    | \bmy\ (?:mistake|fault|error|apologies)\b | \bactually\b | \boops\b | \bwhoops\b | \bapologies\b | \bmisread\b | \bmisheard\b | \bmistyped\b
    | \b(?:on|having)\ second\ thoughts?\b | \bchanged?\ (?:my|our|her|his|your)\ minds?\b | \bcome\ to\ think\b
    | \bother\ way\ (?:a?round|about)\b | \bwrong\ (?:line|row|column|page|number|screen|year|month|week|day|date|one|card|file|sheet|way)\b
    | \b(?:i|i'd|you|you'd|we|he|she|they)\ said\b.{0,60}\bbut\b | \bnot\ [\w$£€:.,-]+[,;.]\ (?:it's|it\ is|that's)?\s*[\w$£€] | ,\ not\ (?:the\ )?[\w$£€]+
    | \bthat\ (?:can't|cannot)\ be\ right\b | \bthat's\ (?:not\ right|wrong|last\ year's|the\ old)\b | \binstead\b | \bi\ take\ it\ back\b
    | (?<=[.!?…]\s)no[,.]\s | \bexcuse\ me\b | \b(?:i've|i'd|i)\ (?:copied|skipped|lost|got\ (?:it|that|the)\ (?:wrong|backwards))\b
    | \blet\ me\ (?:fix|correct|redo|start\ again|put\ that\ right|change)\b | \bnever\ mind\b | \brather\ than\b
    """
)


def corrections(conversation: Conversation) -> int:
    """Count the messages of a conversation that hold words of correcting or of changing one's mind."""
    return sum(_CUES.search(message.text.replace("’", "'")) is not None for message in conversation.messages)
