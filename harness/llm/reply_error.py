"""Why a reply cannot be used: the kinds, and what each means for asking again.

A reply arrived when the model, or the provider on its behalf, answered this very request. Such
a reply is kept in a cassette; trouble on the way is not.

| kind | what happened | arrived | retry |
| --- | --- | --- | --- |
| `no_json` | words, or a bare number, where an object was asked for; a refusal in words too | yes | yes |
| `bad_json` | an object that is no JSON, or that the model left unclosed; Groq's `json_validate_failed` | yes | yes |
| `truncated` | the reply ends at the token limit, before its object does | yes | yes |
| `empty` | no content, or thoughts only | yes | yes |
| `bad_shape` | a tool call that holds something else | yes | yes |
| `missing_NAME` | the field NAME is absent or null | yes | yes |
| `incomplete` | an item asked for by id is absent, or one of its fields is | yes | yes |
| `bad_type` | a value of another type, or off the menu | yes | yes |
| `out_of_range`, `not_finite` | a number outside its bounds, or none | yes | yes |
| `ambiguous` | two verdicts that differ: objects, choices, ids or keys | yes | yes |
| `refusal` | the model declined | yes | no |
| `content_filter` | the provider withheld prompt or reply | yes | no |
| `context_length` | the request is too long for the model | yes | no |
| `rate_limited`, `overloaded` | 429; 529, 498 or an error that says so | no | yes |
| `server_error` | 409, 425, 5xx | no | yes |
| `timeout`, `connection` | 408, no reply in time; no connection | no | yes |
| `provider_error` | success, but no reply in it: no choices, HTML, an unnamed error | no | yes |
| `unsupported_param` | a parameter that the model does not take; `param` names it | no | yes |
| `unsupported_format` | a response format that the model does not take | no | yes |
| `auth` | 401, 403: the key is refused; stops the run | no | no |
| `quota` | 402, or a spent quota; stops the run | no | no |
| `bad_request` | any other 4xx; one for a wrong model or address stops the run and did not arrive | yes | no |

Kinds that are not listed belong to whoever raises them and count as arrived: a reply that was
read and then found wanting, such as one with a quote that nobody wrote.
"""

from __future__ import annotations

_ON_THE_WAY = frozenset(
    "rate_limited overloaded server_error timeout connection provider_error unsupported_param "
    "unsupported_format auth quota bad_request".split()
)
_FINAL = frozenset("refusal content_filter context_length auth quota bad_request".split())
_STOPPING = frozenset(("auth", "quota"))
_MOST_SHOWN = 300


class ReplyError(Exception):
    """A reply that is no value; the module's table has the kinds.

    Args:
        kind: stable name of what happened.
        message: a sentence on it, fit to be shown to a user and to the model.
        retry: whether asking again may help; by the kind unless given.
        action: what to do about it.
        wait_s: seconds that the server asks to wait.
        param: the parameter that is to blame.
        stops_run: whether every later request would fail alike; by the kind unless given.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retry: bool | None = None,
        action: str = "",
        wait_s: float | None = None,
        param: str | None = None,
        stops_run: bool | None = None,
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.retry = kind not in _FINAL if retry is None else retry
        self.action = action or ("ask again" if self.retry else "record as an error")
        self.wait_s = wait_s
        self.param = param
        self.stops_run = kind in _STOPPING if stops_run is None else stops_run

    @property
    def arrived(self) -> bool:
        """Whether an answer to this very request came, usable or not."""
        if self.kind == "bad_request":  # about this very request, unless all would be refused alike
            return not self.stops_run
        return self.kind not in _ON_THE_WAY


def shown(value: object) -> str:
    """Return a value as a message quotes it: one printable line of bounded length."""
    # Cut before and after: the text of a long reply must not be copied whole only to be cut.
    text = value[: 2 * _MOST_SHOWN] if isinstance(value, str) else repr(value)
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"
