"""Embedders: the protocol, the table that ships with the package, and adapters; texts in, unit vectors out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.embed.codec import decode_vector, encode_vectors
    from haversack.embed.embedder import Embedder, Vectors
    from haversack.embed.static import StaticEmbedder

__all__ = ["Embedder", "StaticEmbedder", "Vectors", "decode_vector", "encode_vectors"]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.embed.codec": "decode_vector, encode_vectors",
        "haversack.embed.embedder": "Embedder, Vectors",
        "haversack.embed.static": "StaticEmbedder",
    },
)
