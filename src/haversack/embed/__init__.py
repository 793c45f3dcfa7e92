"""Embedders: the protocol, the table that ships with the package, and adapters; texts in, unit vectors out."""

from haversack.embed.codec import decode_vector, encode_vectors
from haversack.embed.embedder import Embedder, Vectors
from haversack.embed.static import StaticEmbedder

__all__ = ["Embedder", "StaticEmbedder", "Vectors", "decode_vector", "encode_vectors"]
