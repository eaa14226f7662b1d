"""A chat endpoint that is given the whole history with the question: no memory system at all.

--system "openai_chat(model='ollama:qwen3', last=5)"
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from harness.adapters.protocol import Adapter, AgentFailure, Question, Space
from harness.llm.exchange import ChatRequest, Unanswered
from harness.resources import bundled
from harness.suite import Conversation
from harness.suite.answer import Answer

if TYPE_CHECKING:
    import jinja2

PROMPT = "chat_history.j2"


class ChatOptions(BaseModel):
    """Options of `openai_chat`.

    Attributes:
        model: `[provider:]model[@base_url]`; the run's own model when left out.
        max_tokens: most tokens of an answer.
        temperature: 0 for the same answer each time.
        last: how many of the latest conversations are handed over; all when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    max_tokens: int = Field(1024, ge=1)
    temperature: float = Field(0.0, ge=0.0, le=2.0)
    last: int | None = Field(None, ge=1)


class OpenAIChat(Adapter):
    """Asks a model with everything that was said."""

    Options = ChatOptions
    capabilities = frozenset({"answer"})
    isolation = "inline"

    def __init__(self, options: ChatOptions) -> None:
        super().__init__(options)
        self._options = options
        self._template = _template()

    def open(self, space: Space) -> _History:
        """Return an agent with nothing said yet."""
        return _History(self._options, self._template, space)

    def version(self) -> str:
        """Return the model, where the options name one."""
        return self._options.model or ""

    def prompts(self) -> dict[str, str]:
        """Return name and sha256 of the prompt."""
        held = (bundled("prompts") / PROMPT).read_bytes().replace(b"\r\n", b"\n")
        return {PROMPT: sha256(held).hexdigest()}


class _History:
    """Everything that was said to one user."""

    def __init__(self, options: ChatOptions, template: jinja2.Template, space: Space) -> None:
        self._options = options
        self._template = template
        self._space = space
        self._said: list[Conversation] = []

    def ingest(self, conversation: Conversation) -> None:
        self._said.append(conversation)

    async def answer(self, question: Question) -> Answer:
        options = self._options
        said = self._said if options.last is None else self._said[-options.last :]
        request = ChatRequest(
            self._messages(said, question),
            None,
            {"temperature": options.temperature, "max_tokens": options.max_tokens},
            repeat=self._space.repeat,
            label=question.text[:60],
        )
        model = self._space.models.chat(options.model)
        try:
            answered = await model.ask(request)
        except Unanswered as failed:
            raise AgentFailure("raised", _why(failed, model.endpoint.model, said)) from None
        spent = answered.served.spent
        tokens = spent.prompt_tokens + spent.completion_tokens if spent.counted else None
        return Answer(answered.value, tokens=tokens)

    def _messages(self, said: list[Conversation], question: Question) -> tuple[dict[str, str], ...]:
        """Return the chat; each turn is a block of the template, so that no message can open another."""
        given = {"conversations": said, "question": question.text, "asked_at": question.asked_at}
        return tuple(
            {"role": role, "content": "".join(block(self._template.new_context(given))).strip()}
            for role, block in self._template.blocks.items()
        )


def _template() -> jinja2.Template:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(bundled("prompts")),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(PROMPT)


def _why(failed: Unanswered, model: str, said: list[Conversation]) -> str:
    error: Any = failed.error
    words = sum(conversation.words for conversation in said)
    if error.kind == "context_length":
        return (
            f"context_length: {len(said)} conversations of {words:,} words are too long for {model}: "
            f"{error.message} Hand over fewer with last=…"
        )
    return f"{model}: {error.kind}: {error.message}"
