"""How an answer says that it does not know, in English and some other languages.

English is matched by its grammar, the others by their set phrases; all on folded text.
"""

from __future__ import annotations

import re

from harness.facts.patterns import LazyPattern

_NOT = r"(?:n't|\s+not|\s+never)"
_TOLD = (
    r"(?:mention(?:ed)?|said|say|told|tell|state|stated|give|given|gave|share|shared|provide|provided|discuss(?:ed)?|specify|"
    r"specified|disclosed?|included?|record(?:ed)?|cover(?:ed)?|indicated?|bring|brought|come|came|appear(?:s|ed)?|"
    r"reveal(?:ed)?|"
    r"list(?:ed)?|noted?|contain(?:ed)?|talk(?:ed)?|document(?:ed)?|quoted?|read\s+out|confirm(?:ed)?|stored?|"
    r"captured?|supplied|established|determined|settled|nailed\s+down|pinned\s+down|"
    r"named?|answer(?:ed)?|found|find|seen|know|known|available|clear|on\s+record|on\s+file|logged|saved)"
)
_RECORD = (
    r"(?:idea|clue|records?|memory|memories|information|info|data|mention|knowledge|details?|notes?|trace|answer|"
    r"entry|evidence|"
    r"reference|indication|way\s+of\s+knowing|figure|number|balance|value|amount|date|name)"
)
_FIND = (
    r"(?:answer|say|tell|determine|find|locate|confirm|recall|remember|provide|give|identify|retrieve|see|know|verify|pinpoint|"
    r"help\s+(?:you\s+)?with)"
)

DECLINES = LazyPattern(
    rf"""
      \b(?:do|does|did|have|has|had|was|were|is|are|could|can|would){_NOT}\s+(?:(?!to\b)[\w']+\s+){{0,4}}?{_TOLD}\b
    | \b(?:cannot|can't|couldn't|can\s+not|could\s+not)\s+(?:\w+\s+){{0,2}}?{_FIND}\b
    | \b(?:am|'m|is|was|are|were){_NOT}\s+(?:\w+\s+)?(?:able|sure|certain|aware|familiar)\b
    | \b(?:do|does|did){_NOT}\s+(?:\w+\s+)?(?:have(?!\s+to\b)|see|remember|recall|find|know|specify|say|appear|contain|include)\b
    | \b(?:have|has|had)(?:\s+no|{_NOT}\s+(?:any|got\s+any|got))\s+(?:\w+\s+){{0,2}}?{_RECORD}\b
    | \bno\s+(?:[\w'-]+\s+){{0,2}}?{_RECORD}\b
    | \b(?:never|not)\s+(?:\w+\s+){{0,2}}?{_TOLD}\b
    | \bnot\s+(?:sure|certain|aware|in\s+(?:my|our|the|your|any)|part\s+of|something\s+(?:you|we|i)|enough)\b
    | \b(?:unable|not\s+able)\s+to\s+(?:\w+\s+)?{_FIND}\b
    | \b(?:unknown|unspecified|undisclosed|unclear|unanswerable|unavailable|n/a)\b
    | \bnothing\s+(?:about|on|in|was|is|has|that)\b | \bnever\s+(?:got|had|heard|learned|saw|set|came)\b
    | \b(?:is|was|are|were|'s|went)\s+missing\b | \bmissing\s+from\b | \binsufficient\s+information\b
    | \bnone\s+of\s+(?:the|our|your)\b | \bno\s+one\s+(?:ever\s+)?{_TOLD}\b | \bneither\b.{{0,80}}\b{_TOLD}\b
    | \b(?:left|leaves?|stayed|remain(?:ed|s))\s+(?:it\s+)?(?:out|open|blank|empty)\b | \bstill\s+(?:open|looking|blank|empty|to\s+be\s+(?:found|determined|confirmed))\b
    | \bhas\s+yet\s+to\s+be\b | \bhadn't\b.{{0,60}}\bfound\b | \bforgot(?:ten)?\b | \bno\s+longer\s+(?:have|remember)\b
    """,
    re.VERBOSE,
)

# Matched anywhere in a clause; ß is folded to ss.
_ELSEWHERE = {
    "zh": r"不知道|不清楚|不[确確]定|[没沒]有?(?:提到|提及|提過|提过|说|說|告[诉訴]|信息|記錄|记录|相[关關])|未(?:提及|"
    r"提到)|从未|從未|[无無]法(?:回答|确定|確定)|不记得|不記得",
    "ja": r"わかりません|分かりません|知りません|わからない|分からない|不明|覚えて(?:い)?ません|言及(?:され|"
    r"して)?(?:て)?(?:い)?ません|情報(?:が|は)(?:あり)?ません"
    r"|(?:記録|記載)(?:が|は)(?:あり)?ません|伺って(?:い|おり)?ません|聞いて(?:い)?ません",
    "ko": r"모르(?:겠|ㅂ)|모릅니다|몰라|알 수 없|언급(?:되지|하지|된 적)|정보가 없|기록이 없|말씀하신 적",
    "es": r"\bno (?:lo )?s[eé]\b|\bno (?:lo )?sabemos\b|\bno (?:se )?(?:ha |has |lo )?(?:mencion|dijiste|dicho)|"
    r"\bnunca (?:lo |me |se )*(?:mencion|dij|ha)"
    r"|\bno tengo (?:esa |ninguna |la )?(?:informaci|constancia|registro|dato)|\bno (?:consta|figura|aparece)\b|\bdesconozco\b",
    "fr": r"\bje ne (?:le )?sais pas\b|\bje ne m'en souviens\b|\bje ne me souviens\b|\b(?:pas|"
    r"jamais) (?:été )?(?:mentionn|dit|précis|indiqu|communiqu)"
    r"|\baucune (?:information|mention|trace|donnée)|\bje n'ai (?:pas|aucune)\b|\bje l'ignore\b",
    "de": r"\bweiss (?:es |ich |das |ich es |ich das )?(?:leider )?nicht\b|\bkeine (?:informationen?|angaben?|ahnung|"
    r"daten|notiz)|\b(?:nicht|nie|nirgends) (?:erwähnt|"
    r"bekannt|genannt|gesagt|besprochen|angegeben)|\bliegt mir nicht vor\b|\bsteht nirgends\b",
    "it": r"\bnon (?:lo )?so\b|\bnon (?:è |l'hai |hai |mi hai )?(?:stato |mai )*(?:menzionat|dett|indicat)|"
    r"\bnessuna (?:informazione|menzione|traccia)|\bnon ho (?:questa )?"
    r"informazion|\bnon risulta\b",
    "pt": r"\bn[ãa]o (?:sei|me lembro|consta|foi mencion|foi dit|mencionou|me disse|tenho (?:essa |nenhuma )?informaç)|"
    r"\bnenhuma (?:informação|menção)|\bnunca mencion",
    "nl": r"\bweet (?:het |ik )(?:het |dat )?niet\b|\bniet (?:genoemd|vermeld|bekend)\b|\bgeen (?:informatie|gegevens|idee)\b",
    "pl": r"\bnie (?:wiem|wspomnia|pami[eę]tam|podan|mam (?:tej )?informacji)|\bbrak informacji",
    "tr": r"\bbilmiyorum\b|\bbahsetmedi|\bbelirtilmemiş|\bbilgi(?:m|miz)? yok",
    "ru": r"не (?:знаю|помню|упомина|упомянут|говорил|указа|сообща)|неизвестно|нет (?:информации|данных|сведений)",
    "ar": r"لا أعرف|لا أعلم|لا أدري|لم (?:تذكر|يذكر|يُذكر)|لا توجد معلومات",
    "hi": r"पता नहीं|नहीं पता|नहीं बताया|कोई जानकारी नहीं|उल्लेख नहीं",
    "sv": r"\b(?:jag )?vet inte\b|\bframgår inte\b|\binte nämn",
}
DECLINES_ELSEWHERE = LazyPattern("|".join(_ELSEWHERE.values()))

GUESSES = LazyPattern(
    r"\b(?:probably|maybe|perhaps|likely|possibly|presumably|i think|i believe|i guess|i'd guess|my (?:best )?guess|"
    r"guessing|i'd say|"
    r"i suspect|i assume|assuming|i'd estimate|i'd go with|as far as i remember|if i remember|if i had to)\b"
    r"|\b(?:might|may|could|must|should) be\s+(?!in\b|on\b|at\b|with\b|worth|able|best|helpful|possible|listed|"
    r"shown|printed|found|"
    r"available|recorded|a good|easier|because|that\b|there\b|more\b|stated|written|given)"
    r"|\b(?:creo que|quiz[aá]s?|probablemente|peut-être|je crois|je pense|vielleicht|wahrscheinlich|ich glaube|"
    r"forse|penso|talvez|acho)\b"
    r"|たぶん|多分|恐らく|也许|可能|大概|아마"
)
