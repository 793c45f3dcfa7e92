"""Any OpenAI-compatible embeddings endpoint, over the standard library's HTTP client."""

from __future__ import annotations

import http.client
import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request

import numpy as np

from haversack.embed.codec import checked
from haversack.embed.embedder import Vectors
from haversack.embed.static import StaticEmbedder
from haversack.errors import ConfigError, ServiceError, ServiceTimeout
from haversack.outgoing import Way, opener_for
from haversack.redact import without_secrets

__all__ = ["RemoteEmbedder"]

_BATCH = 128
_LONGEST = 24_000
"""Characters of a text that are sent: about the 8,192 tokens that endpoints take."""
_LARGEST_ANSWER = 200_000_000
_SHOWN = 200
_WAY = Way(allow_this_machine=True)


class RemoteEmbedder:
    """Posts `{"model", "input"}` to `url` + `/embeddings`. Blank texts are not sent and have no direction."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        dimension: int | None = None,
        timeout: float = 30.0,
        way: Way = _WAY,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(
                f"embeddings address {without_secrets(url)!r} must be http://… or https://…, such as https://host/v1"
            )
        if not (math.isfinite(timeout) and timeout > 0):
            raise ConfigError(f"embeddings timeout={timeout} must be a positive number of seconds")
        self.model = model
        self._address = url.rstrip("/") + ("" if parts.path.endswith("/embeddings") else "/embeddings")
        self._host = parts.hostname
        self._key = key
        self._dimension = dimension
        self._timeout = timeout
        self._opener = opener_for(self._address, way)

    @property
    def dimension(self) -> int:
        """As told, or else asked of the service once."""
        if self._dimension is None:
            self._dimension = int(self._request(["dimension"]).shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See the protocol; nothing is returned when any batch fails."""
        rows = np.zeros((len(texts), self.dimension), np.float32)
        asked = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            rows[batch] = self._request([texts[row][:_LONGEST] for row in batch], self.dimension)
        return rows

    @cached_property
    def words(self) -> StaticEmbedder:
        """The shipped table, for soft matching of words."""
        return StaticEmbedder()

    def embed_query(self, text: str) -> Vectors:
        """See the protocol."""
        return self.embed([text])[0]

    def _request(self, texts: Sequence[str], dimension: int | None = None) -> Vectors:
        answer = self._post(json.dumps({"model": self.model, "input": list(texts)}).encode())
        return checked(_rows(answer, len(texts), self._who), len(texts), dimension, self._who)

    @property
    def _who(self) -> str:
        return f"the embeddings service at {self._host}"

    def _post(self, body: bytes) -> object:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = Request(self._address, body, headers)  # noqa: S310 - the scheme was checked
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return json.loads(response.read(_LARGEST_ANSWER))
        except HTTPError as error:
            with error:
                shown = error.read(_SHOWN).decode("utf-8", "replace")
            if target := error.headers.get("Location"):
                shown = f"it redirects to {without_secrets(target)!r}, and redirects are not followed: set that address"
            raise ServiceError(f"{self._who} answered {error.code}: {shown}") from None
        except TimeoutError:
            raise ServiceTimeout(f"{self._who} did not answer within {self._timeout:g} s") from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise ServiceTimeout(f"{self._who} did not answer within {self._timeout:g} s") from None
            raise ServiceError(f"{self._who} cannot be reached: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise ServiceError(f"{self._who} broke off: {error}") from None
        except (ValueError, RecursionError):
            raise ServiceError(f"{self._who} answered something that is not JSON") from None


def _rows(answer: object, count: int, who: str) -> list[list[float]]:
    """The vectors in the order of the texts: services may shuffle, `index` says which is which."""
    data = cast("Mapping[str, object]", answer).get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(cast("list[object]", data)) != count:
        raise ServiceError(f"{who} did not answer {count} vectors")
    try:
        entries = cast("list[dict[str, object]]", data)
        places = [cast("int", entry.get("index", place)) for place, entry in enumerate(entries)]
        if sorted(places) != list(range(count)):
            raise ServiceError(f"{who} numbered its vectors {places[:5]}…")
        ordered = dict(zip(places, entries, strict=True))
        return [cast("list[float]", ordered[place]["embedding"]) for place in range(count)]
    except (AttributeError, KeyError, TypeError) as error:
        raise ServiceError(f"{who} answered entries without an embedding") from error
