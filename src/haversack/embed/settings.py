"""How the embedder is named in the configuration; a key itself never stands there."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.errors import ConfigError, nearest

__all__ = ["EMBEDDERS", "EmbeddingSettings"]

EMBEDDERS = ("default", "none", "onnx", "remote")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """The `embedding` section."""

    name: str = "default"
    """`default` (ships with the package), `none` (words only), `onnx` (an extra) or `remote`."""
    url: str | None = None
    """With `remote`: an OpenAI-compatible address such as https://host/v1."""
    model: str | None = None
    """With `remote`: the model's name, which is stored beside each vector."""
    api_key_env: str | None = None
    """The environment variable that holds the key; local servers need none."""
    dimension: int | None = None
    """Of its vectors; None: asked of the service once."""
    timeout: float = 30.0
    """Seconds for one request."""
    allow_private: bool = False
    """Whether the address may lead into a private network other than this machine."""

    def __post_init__(self) -> None:
        if self.name not in EMBEDDERS:
            raise ConfigError(f"embedding.name={self.name!r} is not known: {nearest(self.name, EMBEDDERS)}")
        if self.name == "remote" and not (self.url and self.model):
            raise ConfigError("embedding.name='remote' needs embedding.url and embedding.model")
