"""Resolution of endpoints: every situation that docs/providers.md describes, and keys that never show."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.errors import ExitCode, SettingsError
from harness.llm.api_keys import is_placeholder
from harness.llm.base_url import checked_base_url, is_local
from harness.llm.endpoint import Endpoint, Wanted, key_variables, parse_judge, resolve_endpoint

KEY = "sk-test-1f9a"
OTHER = "sk-test-77b2"
ROUTER = {"OPENROUTER_API_KEY": KEY}


def resolved(variables: dict[str, str], **asked: str) -> tuple[str, str, str | None]:
    endpoint = resolve_endpoint(Wanted(**asked), variables)
    assert (endpoint.api_key is None) == (endpoint.key_name is None)
    return endpoint.provider, endpoint.model, endpoint.key_name


def refused(variables: dict[str, str], **asked: str) -> str:
    with pytest.raises(SettingsError) as caught:
        resolve_endpoint(Wanted(**asked), variables)
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("variables", "asked", "expected"),
    [
        ({"KIMI_API_KEY": KEY}, {}, ("kimi", "kimi-k2.6", "KIMI_API_KEY")),
        ({"MOONSHOT_API_KEY": KEY}, {}, ("kimi", "kimi-k2.6", "MOONSHOT_API_KEY")),
        ({"MOONSHOT_API_KEY": OTHER, "KIMI_API_KEY": KEY}, {}, ("kimi", "kimi-k2.6", "KIMI_API_KEY")),
        (
            {"KIMI_API_KEY": "your_key_here", "MOONSHOT_API_KEY": KEY},
            {},
            ("kimi", "kimi-k2.6", "MOONSHOT_API_KEY"),
        ),
        ({"OPENAI_API_KEY": KEY, "KIMI_API_KEY": OTHER}, {"model": "gpt-5"}, ("openai", "gpt-5", "OPENAI_API_KEY")),
        ({"OPENAI_API_KEY": KEY, "KIMI_API_KEY": OTHER}, {"provider": "openai"}, ("openai", "gpt-6-luna", "OPENAI_API_KEY")),
        ({"GOOGLE_API_KEY": KEY}, {"model": "gemini-3.5-flash"}, ("gemini", "gemini-3.5-flash", "GOOGLE_API_KEY")),
        ({"GROQ_API_KEY": KEY}, {"provider": "GROQ", "model": "openai/gpt-oss-20b"}, ("groq", "openai/gpt-oss-20b", "GROQ_API_KEY")),
        ({"KIMI_API_KEY": "changeme", "XAI_API_KEY": KEY}, {}, ("xai", "grok-4.3", "XAI_API_KEY")),
        (ROUTER, {}, ("openrouter", "moonshotai/kimi-k2.6", "OPENROUTER_API_KEY")),
        (ROUTER, {"provider": "openrouter", "model": "a/b:free"}, ("openrouter", "a/b:free", "OPENROUTER_API_KEY")),
        ({**ROUTER, "OPENAI_API_KEY": KEY}, {"model": "openai/gpt-5"}, ("openrouter", "openai/gpt-5", "OPENROUTER_API_KEY")),
        ({**ROUTER, "OPENROUTER_MODEL": "c/d"}, {}, ("openrouter", "c/d", "OPENROUTER_API_KEY")),
        ({}, {"provider": "ollama", "model": "mistral:7b"}, ("ollama", "mistral:7b", None)),
        ({"OPENAI_API_KEY": KEY}, {"provider": "lmstudio"}, ("lmstudio", "default", None)),
        ({"VLLM_API_KEY": KEY}, {"provider": "vllm", "model": "m"}, ("vllm", "m", "VLLM_API_KEY")),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, {"provider": "openai", "model": "m"}, ("openai", "m", None)),
        ({"MY_KEY": KEY, "OPENAI_API_KEY": OTHER}, {"model": "gpt-5", "api_key_env": "MY_KEY"}, ("openai", "gpt-5", "MY_KEY")),
        ({"XAI_API_KEY": KEY, "KIMI_API_KEY": OTHER}, {"api_key_env": "XAI_API_KEY"}, ("xai", "grok-4.3", "XAI_API_KEY")),
        ({"KIMI_API_KEY": KEY}, {"model": " ", "provider": ""}, ("kimi", "kimi-k2.6", "KIMI_API_KEY")),
    ],
)  # fmt: skip
def test_what_is_taken_without_any_substitution(
    variables: dict[str, str], asked: dict[str, str], expected: tuple[str, str, str | None]
) -> None:
    assert resolved(variables, **asked) == expected
    endpoint = resolve_endpoint(Wanted(**asked), variables)
    assert endpoint.substitution is None
    assert endpoint.asked_model == endpoint.model
    assert endpoint.label == f"{endpoint.provider}/{endpoint.model}"


@pytest.mark.parametrize(
    ("asked", "model", "said"),
    [
        ({"model": "kimi-k2"}, "moonshotai/kimi-k2", "KIMI_API_KEY and MOONSHOT_API_KEY are not set: using "
         "openrouter with moonshotai/kimi-k2 (OPENROUTER_API_KEY) for kimi-k2"),
        ({"model": "moonshot-v1-8k"}, "moonshotai/moonshot-v1-8k", "for moonshot-v1-8k"),
        ({"provider": "kimi"}, "moonshotai/kimi-k2.6", "for kimi-k2.6"),
        ({"model": "gpt-5-mini"}, "openai/gpt-5-mini", "OPENAI_API_KEY is not set"),
        ({"model": "o1"}, "openai/o1", "for o1"),
        ({"model": "o3-mini"}, "openai/o3-mini", "for o3-mini"),
        ({"model": "o4-mini"}, "openai/o4-mini", "for o4-mini"),
        ({"model": "chatgpt-4o-latest"}, "openai/chatgpt-4o-latest", "for chatgpt"),
        ({"model": "claude-sonnet-5"}, "anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY is not set"),
        ({"provider": "groq", "model": "qwen/qwen3-32b"}, "qwen/qwen3-32b", "GROQ_API_KEY is not set"),
        ({"provider": "mistral"}, "moonshotai/kimi-k2.6",
         "(OPENROUTER_API_KEY; another model, its default) for mistral-medium-latest"),
        ({"provider": "fireworks", "model": "accounts/a/models/m"}, "moonshotai/kimi-k2.6", "another model"),
    ],
)  # fmt: skip
def test_openrouter_stands_in_and_says_so(asked: dict[str, str], model: str, said: str) -> None:
    endpoint = resolve_endpoint(Wanted(**asked), ROUTER)
    assert (endpoint.provider, endpoint.model) == ("openrouter", model)
    assert endpoint.base_url == "https://openrouter.ai/api/v1"
    assert (endpoint.key_name, endpoint.api_key) == ("OPENROUTER_API_KEY", KEY)
    assert endpoint.substitution is not None
    assert said in endpoint.substitution
    assert asked.get("model", endpoint.asked_model) == endpoint.asked_model


def test_a_placeholder_lets_openrouter_stand_in() -> None:
    endpoint = resolve_endpoint(Wanted("openai"), {**ROUTER, "OPENAI_API_KEY": "sk-xxxxxxxx"})
    assert endpoint.substitution == (
        "OPENAI_API_KEY holds a placeholder: using openrouter with openai/gpt-6-luna (OPENROUTER_API_KEY) "
        "for gpt-6-luna"
    )


@pytest.mark.parametrize("asked", [{"model": "gpt-5"}, {"provider": "openrouter", "model": "gpt-5"}])
def test_openrouter_model_forces_one_and_says_so(asked: dict[str, str]) -> None:
    endpoint = resolve_endpoint(Wanted(**asked), {**ROUTER, "OPENROUTER_MODEL": "maker/forced"})
    assert (endpoint.model, endpoint.asked_model) == ("maker/forced", "gpt-5")
    assert "OPENROUTER_MODEL forces the model" in str(endpoint.substitution)
    assert str(endpoint.substitution).endswith(("for gpt-5", "for gpt-5 (OPENROUTER_MODEL forces the model)"))


def test_openrouter_by_name_maps_too_and_says_so() -> None:
    endpoint = resolve_endpoint(Wanted("openrouter", "gpt-5"), ROUTER)
    assert endpoint.substitution == "using openrouter with openai/gpt-5 for gpt-5"
    other = resolve_endpoint(Wanted("openrouter", "llama-9"), ROUTER)
    assert other.substitution == (
        "using openrouter with moonshotai/kimi-k2.6 for llama-9 (another model, its default)"
    )


def test_without_any_key_the_error_names_every_accepted_one() -> None:
    said = refused({"KIMI_API_KEY": "<key>", "PATH": "/bin"})
    for name in ("KIMI_API_KEY holds a placeholder", "MOONSHOT_API_KEY", "OPENROUTER_API_KEY", "--base-url"):
        assert name in said
    assert "no key is set" in refused({})


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({"provider": "kimi"}, ["no key for kimi", "KIMI_API_KEY, MOONSHOT_API_KEY or OPENROUTER_API_KEY"]),
        ({"model": "gpt-5"}, ["no key for openai", "OPENAI_API_KEY or OPENROUTER_API_KEY"]),
        ({"model": "a/b"}, ["no key for openrouter", "Set OPENROUTER_API_KEY in"]),
        ({"provider": "ollama"}, ["ollama has no default model", "--model"]),
        ({"provider": "nobody"}, ["unknown provider 'nobody'"]),
        ({"model": "two words"}, ["--model"]),
        ({"base_url": "https://llm.example.com/v1"}, ["--model"]),
        ({"base_url": "https://api.openai.com/v1"}, ["no key for openai", "Set OPENAI_API_KEY in"]),
        ({"api_key_env": "MY_KEY"}, ["--provider or --base-url"]),
    ],
)
def test_what_cannot_be_resolved(asked: dict[str, str], parts: list[str]) -> None:
    said = refused({}, **asked)
    assert [part for part in parts if part not in said] == []


@pytest.mark.parametrize(
    ("url", "asked", "expected"),
    [
        ("http://127.0.0.1:8080/v1", {}, ("local", "default", None)),
        ("http://localhost:1234/v1/", {"model": "m"}, ("local", "m", None)),
        ("http://[::1]:8080/v1", {}, ("local", "default", None)),
        ("http://192.168.1.7:8000/v1", {}, ("custom", "default", None)),
        ("http://gpu-box:8000/v1", {}, ("custom", "default", None)),
        ("http://192.168.1.7:11434/v1", {"provider": "ollama", "model": "m"}, ("ollama", "m", None)),
        ("https://llm.example.com/v1", {"model": "gpt-5"}, ("custom", "gpt-5", None)),
        ("https://api.openai.com.example.com/v1", {"model": "gpt-5"}, ("custom", "gpt-5", None)),
        ("http://api.openai.com/v1", {"model": "gpt-5"}, ("custom", "gpt-5", None)),
        ("https://api.openai.com:8443/v1", {"model": "gpt-5"}, ("custom", "gpt-5", None)),
        ("https://API.openai.com/v1", {"model": "gpt-5"}, ("openai", "gpt-5", "OPENAI_API_KEY")),
        ("https://api.openai.com:443/v1", {"provider": "openai"}, ("openai", "gpt-6-luna", "OPENAI_API_KEY")),
        ("http://127.0.0.1:8080/v1", {"api_key_env": "LLM_KEY"}, ("local", "default", "LLM_KEY")),
        ("https://llm.example.com/v1", {"model": "m", "api_key_env": "LLM_KEY"}, ("custom", "m", "LLM_KEY")),
        ("https://p.example.com/v1", {"model": "m", "api_key_env": "OPENAI_API_KEY"}, ("custom", "m", "OPENAI_API_KEY")),
    ],
)  # fmt: skip
def test_a_base_url_gets_only_the_key_that_belongs_there(
    url: str, asked: dict[str, str], expected: tuple[str, str, str | None]
) -> None:
    variables = {"OPENAI_API_KEY": KEY, "LLM_KEY": OTHER, **ROUTER}
    assert resolved(variables, base_url=url, **asked) == expected


def test_no_stand_in_for_a_base_url_that_was_given() -> None:
    assert "Set OPENAI_API_KEY in" in refused(ROUTER, base_url="https://api.openai.com/v1", model="gpt-5")


@pytest.mark.parametrize(
    "asked",
    [
        {"provider": "openai", "base_url": "https://llm.example.com/v1", "model": "m"},
        {"provider": "kimi", "api_key_env": "OPENAI_API_KEY"},
        {"base_url": "https://api.moonshot.ai/v1", "api_key_env": "OPENAI_API_KEY"},
    ],
)
def test_a_key_for_another_host_is_not_sent(asked: dict[str, str]) -> None:
    assert "not sent" in refused({"OPENAI_API_KEY": KEY}, **asked)


def test_a_variable_replaces_the_base_url() -> None:
    variables = {"KIMI_API_KEY": KEY, "KIMI_BASE_URL": "https://api.moonshot.cn/v1/"}
    assert resolve_endpoint(Wanted("kimi"), variables).base_url == "https://api.moonshot.cn/v1"
    assert "KIMI_BASE_URL: has no scheme" in refused({**variables, "KIMI_BASE_URL": "api.moonshot.cn"})


@pytest.mark.parametrize("value", [None, "", "  ", "your_key_here", "'sk-xxxx'"])
def test_a_named_variable_without_a_key_is_an_error(value: str | None) -> None:
    variables = {**ROUTER, "OPENAI_API_KEY": KEY} | ({} if value is None else {"LLM_KEY": value})
    said = refused(variables, base_url="http://127.0.0.1:8080/v1", api_key_env="LLM_KEY")
    assert "LLM_KEY" in said
    assert "your_key_here" not in said


def test_a_key_given_as_the_name_of_its_variable_is_not_repeated() -> None:
    said = refused({}, provider="openai", api_key_env="sk-proj-a1b2c3")
    assert "a1b2c3" not in said
    assert "name of a variable" in said


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("127.0.0.1:8080/v1", "scheme"),
        ("localhost/v1", "has no scheme"),
        ("//host/v1", "has no scheme"),
        ("ftp://host/v1", "neither http:// nor https://"),
        ("http://", "names no host"),
        ("http:///v1", "names no host"),
        ("https://h.example.com/v1/chat/completions", "Cut that off: https://h.example.com/v1"),
        ("https://h.example.com/v1/chat/completions/", "Cut that off: https://h.example.com/v1"),
        ("https://h.example.com/v1/completions", "Cut that off"),
        ("https://user:hunter2@h.example.com/v1", "--api-key-env"),
        ("https://h.example.com/v1?key=hunter2", "query"),
        ("https://h.example.com/v1#hunter2", "fragment"),
        ("http://host:port/v1", "cannot be read"),
        ("http://host:99999/v1", "cannot be read"),
        ("http://[::1/v1", "cannot be read"),
        ("http://ho st/v1", "a space"),
        ("http://host\n.example.com/v1", "no URL has"),
    ],
)
def test_wrong_base_urls(url: str, part: str) -> None:
    said = refused({}, base_url=url, model="m")
    assert said.startswith("--base-url: ")
    assert part in said
    assert "hunter2" not in said


@given(
    st.sampled_from(["http", "https", "HTTP"]),
    st.from_regex(r"[a-zA-Z][a-z0-9]{0,8}(\.[a-z]{2,5}){0,2}", fullmatch=True),
    st.none() | st.integers(1, 65535),
    st.from_regex(r"(/[a-z0-9]{1,6}){0,3}/{0,2}", fullmatch=True),
)
def test_a_good_base_url_has_one_spelling(scheme: str, host: str, port: int | None, path: str) -> None:
    assume(not path.rstrip("/").endswith(("/completions", "/responses", "/embeddings")))
    url = checked_base_url(f"{scheme}://{host}{f':{port}' if port else ''}{path}", "x")
    assert checked_base_url(url, "x") == url
    assert not url.endswith("/")
    assert url.startswith(f"{scheme.lower()}://{host.lower()}")


@given(st.text(max_size=60))
def test_any_text_is_a_base_url_or_a_settings_error(text: str) -> None:
    try:
        url = checked_base_url(text, "x")
    except SettingsError:
        return
    assert url.startswith(("http://", "https://"))
    assert isinstance(is_local(url), bool)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://0.0.0.0:8080/v1", True),
        ("http://localhost/v1", True),
        ("http://[fd00::1]/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://172.31.0.1/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://gpu.local/v1", True),
        ("http://172.32.0.1/v1", False),
        ("http://8.8.8.8/v1", False),
        ("https://10.example.com/v1", False),
        ("https://localhost.example.com/v1", False),
    ],
)
def test_local(url: str, local: bool) -> None:
    assert Endpoint("x", url, "m", None, None, "m").local is local


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("openai:gpt-5-mini", Wanted("openai", "gpt-5-mini")),
        ("kimi:kimi-k2", Wanted("kimi", "kimi-k2")),
        ("Moonshot:kimi-k2", Wanted("kimi", "kimi-k2")),
        ("kimi", Wanted("kimi")),
        ("kimi:", Wanted("kimi")),
        ("gpt-5", Wanted(model="gpt-5")),
        ("llama3.1:8b", Wanted(model="llama3.1:8b")),
        ("ft:gpt-4o:org", Wanted(model="ft:gpt-4o:org")),
        ("claude-sonnet-4@20250514", Wanted(model="claude-sonnet-4@20250514")),
        ("@cf/meta/llama-3", Wanted(model="@cf/meta/llama-3")),
        ("ollama:mistral:7b", Wanted("ollama", "mistral:7b")),
        ("qwen2.5@http://127.0.0.1:8080/v1", Wanted(model="qwen2.5", base_url="http://127.0.0.1:8080/v1")),
        ("@http://127.0.0.1:8080/v1/", Wanted(base_url="http://127.0.0.1:8080/v1")),
        ("ollama:a:b@http://10.0.0.2:1/v1", Wanted("ollama", "a:b", "http://10.0.0.2:1/v1")),
        (
            "openrouter:meta-llama/llama-3.3-70b-instruct:free",
            Wanted("openrouter", "meta-llama/llama-3.3-70b-instruct:free"),
        ),
    ],
)
def test_parse_judge(spec: str, wanted: Wanted) -> None:
    assert parse_judge(f" {spec} ") == wanted


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("", "names no model"),
        ("  ", "names no model"),
        ("m@127.0.0.1:8080/v1", "has no scheme"),
        ("m@localhost/v1", "has no scheme"),
        ("m@host.example.com/v1", "has no scheme"),
        ("m@ftp://host/v1", "neither"),
        ("m@https://u:hunter2@host/v1", "user name or password"),
    ],
)
def test_wrong_judges(spec: str, part: str) -> None:
    with pytest.raises(SettingsError, match=part) as caught:
        parse_judge(spec)
    assert "hunter2" not in str(caught.value)


def test_dotenv_lies_beneath_the_environment_and_nothing_is_changed() -> None:
    dotenv = {"A": "file", "B": "file", "C": " ", "D": "file"}
    environ = {"A": "env", "B": "  ", "E": ""}
    assert key_variables(dotenv, environ) == {"A": "env", "B": "file", "D": "file"}
    assert dotenv == {"A": "file", "B": "file", "C": " ", "D": "file"}
    assert environ == {"A": "env", "B": "  ", "E": ""}


texts = st.dictionaries(st.sampled_from("ABCD"), st.text(max_size=3))


@given(texts, texts)
def test_dotenv_never_overrides(dotenv: dict[str, str], environ: dict[str, str]) -> None:
    merged = key_variables(dotenv, environ)
    set_here = {name: value for name, value in environ.items() if value.strip()}
    assert {name: merged[name] for name in set_here} == set_here
    assert all(value.strip() for value in merged.values())
    assert set(merged) <= {*dotenv, *environ}


@pytest.mark.parametrize(
    "value",
    [
        "", "  ", "''", '""', "...", "…", "-", "your_key_here", "your-api-key", "YOUR_API_KEY", "your key here",
        "your_openai_api_key", "sk-your-key-here", "sk-xxxx", "sk-xxxxxxxxxxxxxxxx", "sk-…", "sk-...", "sk-or-v1-xxxx",
        "sk-ab...yz", "sk-****wxyz", "xxx", "XXXXXXXX", "xxxx-xxxx-xxxx", "****", "<key>", "<your key>", "{{ key }}",
        "${OPENAI_API_KEY}", "$OPENAI_API_KEY", "${KEY:-}", "%KEY%", "$(cat key)", "changeme", "CHANGE_ME", "change-this",
        "TODO", "to-do", "none", "None", "null", "nil", "n/a", "placeholder", "key", "api_key", "API-KEY", "apikey",
        "OPENAI_API_KEY", "my-secret-key", "insert_key_here", "paste your key here", "key_goes_here", "'sk-xxxx'",
    ],
)  # fmt: skip
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)
    assert is_placeholder(f" {value}\n")
    assert resolved({"KIMI_API_KEY": value, "XAI_API_KEY": KEY})[0] == "xai"


@pytest.mark.parametrize(
    "value",
    ["a", "k1", "abc123", "sk-1", "token-abc123", "sk-test", "EXAMPLE1", "x1xx", "sk-xxxa", "nonesuch", "hunter2",
     "keychain", "todo7", "key-4f9a", "changeme2"],
)  # fmt: skip
def test_short_and_odd_keys_are_keys(value: str) -> None:
    assert not is_placeholder(value)


real_keys = st.builds(
    lambda prefix, body: prefix + body,
    st.sampled_from(["", "sk-", "sk-proj-", "sk-or-v1-", "gsk_", "xai-", "AIza", "tgp_v1_"]),
    st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=8, max_size=60).filter(
        lambda body: len(set(body)) > 4 and any(letter.isdigit() for letter in body)
    ),
)


@given(real_keys)
def test_a_real_looking_key_is_never_a_placeholder(key: str) -> None:
    assert not is_placeholder(key)
    assert not is_placeholder(f'"{key}"')
    for padded in (f" {key}\r\n", f'"{key}"'):
        assert resolve_endpoint(Wanted("kimi"), {"KIMI_API_KEY": padded}).api_key == key


@given(
    real_keys, st.sampled_from(["\0", "\n", "\t", " ", "\x7f", "é", "\u200b", "\udce9"]), st.integers(1, 7)
)
def test_a_broken_key_is_refused_and_not_repeated(key: str, wrong: str, place: int) -> None:
    said = refused({"KIMI_API_KEY": key[:place] + wrong + key[place:], **ROUTER}, provider="kimi")
    assert said.startswith("KIMI_API_KEY: ")
    assert key[place:] not in said


@given(real_keys, st.sampled_from(["kimi", "openai", "mistral"]))
def test_a_key_never_shows(key: str, provider: str) -> None:
    for endpoint in (
        resolve_endpoint(Wanted(provider), {"OPENROUTER_API_KEY": key}),
        resolve_endpoint(Wanted("vllm", "m"), {"VLLM_API_KEY": key}),
        resolve_endpoint(Wanted(model="m", base_url="https://h.example.com", api_key_env="K"), {"K": key}),
    ):
        assert endpoint.api_key == key
        shown = [repr(endpoint), str(endpoint), f"{endpoint}", repr(endpoint.recorded()), endpoint.label]
        shown += [pickle.dumps(endpoint, protocol).decode("latin-1") for protocol in range(6)]
        assert [text for text in shown if key in text] == []


def test_a_key_is_not_pickled_and_all_else_is() -> None:
    endpoint = resolve_endpoint(Wanted(model="kimi-k2"), ROUTER)
    assert pickle.loads(pickle.dumps(endpoint)) == replace(endpoint, api_key=None)
    assert copy.copy(endpoint) == copy.deepcopy(endpoint) == endpoint
    assert endpoint.recorded() == {
        "provider": "openrouter",
        "base_url": "https://openrouter.ai/api/v1",
        "model": "moonshotai/kimi-k2",
        "key_name": "OPENROUTER_API_KEY",
        "asked_model": "kimi-k2",
        "substitution": endpoint.substitution,
    }


asked_texts = (
    st.none() | st.text(max_size=12) | st.sampled_from(["kimi", "gpt-5", "a/b", "ollama", "http://h/v1"])
)


@given(real_keys, st.builds(Wanted, asked_texts, asked_texts, asked_texts, asked_texts))
def test_whatever_is_asked_for_gives_an_endpoint_or_a_settings_error(key: str, wanted: Wanted) -> None:
    variables = {"OPENAI_API_KEY": key, "KIMI_API_KEY": "your_key_here", "GROQ_API_KEY": key}
    try:
        endpoint = resolve_endpoint(wanted, variables)
    except SettingsError as error:
        said = str(error)
        endpoint = None
    else:
        said = repr(endpoint)
    assert key not in said or key in (wanted.provider, wanted.model, wanted.base_url)
    if endpoint is not None:
        assert endpoint.model
        assert endpoint.base_url.startswith(("http://", "https://"))
        if endpoint.api_key is not None:
            assert endpoint.base_url in ("https://api.openai.com/v1", "https://api.groq.com/openai/v1")
