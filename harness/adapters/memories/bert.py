"""BERT's encoder, forward only, in numpy.

Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language understanding",
2019, with the attention of Vaswani et al., "Attention is all you need", 2017, and the mean of the token
vectors as a sentence's, as in Reimers and Gurevych, "Sentence-BERT", 2019.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_MASKED = -1e9


class Bert:
    """An encoder with given weights.

    Args:
        weights: arrays by their usual names, such as `encoder.layer.0.output.dense.weight`.
        config: `num_hidden_layers`, `num_attention_heads` and `layer_norm_eps`.
    """

    def __init__(self, weights: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> None:
        self._weights = weights
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])

    def sentence_vectors(self, ids: Sequence[Sequence[int]]) -> np.ndarray:
        """Return the mean of each text's token vectors, one row a text.

        Args:
            ids: token numbers of each text, the marks at its ends among them.
        """
        import numpy as np

        longest = max(map(len, ids))
        padded = np.zeros((len(ids), longest), dtype=np.int64)
        there = np.zeros((len(ids), longest), dtype=np.float32)
        for row, numbers in enumerate(ids):
            padded[row, : len(numbers)] = numbers
            there[row, : len(numbers)] = 1
        vectors: np.ndarray = self._encode(padded, there)
        mean: np.ndarray = (vectors * there[:, :, None]).sum(axis=1) / there.sum(axis=1, keepdims=True)
        return mean

    def _encode(self, ids: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Return a vector for each token: texts × tokens × width."""
        weights = self._weights
        state = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        state = self._normalised(state, "embeddings")
        hidden = (1 - there)[:, None, None, :] * _MASKED
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            attended = self._attention(state, hidden, f"{layer}.attention")
            state = self._normalised(state + attended, f"{layer}.attention.output")
            inner = _gelu(self._linear(state, f"{layer}.intermediate.dense"))
            state = self._normalised(state + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output")
        return state

    def _attention(self, state: np.ndarray, hidden: np.ndarray, name: str) -> np.ndarray:
        """Return softmax(QKᵀ / √d) V over all heads; `hidden` is added so that padding gets no weight."""
        import numpy as np

        texts, tokens, width = state.shape

        def heads(part: str) -> np.ndarray:
            projected = self._linear(state, f"{name}.self.{part}")
            return projected.reshape(texts, tokens, self._heads, -1).transpose(0, 2, 1, 3)

        queries, keys, values = heads("query"), heads("key"), heads("value")
        likeness = queries @ keys.transpose(0, 1, 3, 2) / math.sqrt(width // self._heads) + hidden
        shares = np.exp(likeness - likeness.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ values).transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        return self._linear(mixed, f"{name}.output.dense")

    def _linear(self, state: np.ndarray, name: str) -> np.ndarray:
        # One product of two matrices; numpy would make one for each text, which takes far longer.
        flat = state.reshape(-1, state.shape[-1]) @ self._weights[f"{name}.weight"].T
        made: np.ndarray = flat.reshape(*state.shape[:-1], -1) + self._weights[f"{name}.bias"]
        return made

    def _normalised(self, state: np.ndarray, name: str) -> np.ndarray:
        """Return the layer norm over the width."""
        import numpy as np

        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        scaled: np.ndarray = centred / spread
        weighted = scaled * self._weights[f"{name}.LayerNorm.weight"]
        made: np.ndarray = weighted + self._weights[f"{name}.LayerNorm.bias"]
        return made


def _gelu(values: np.ndarray) -> np.ndarray:
    """Return x Φ(x), Φ the normal distribution.

    numpy has no error function: Abramowitz and Stegun, "Handbook of mathematical functions", 7.1.26,
    which is off by at most 1.5e-7.
    """
    import numpy as np

    size = np.abs(values) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.copysign(1 - series * np.exp(-size * size), values)
    made: np.ndarray = values * np.float32(0.5) * (1 + erf)
    return made
