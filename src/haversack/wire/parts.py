"""Content parts of every provider read into ours, and the pieces that several dumps share."""

from __future__ import annotations

import json
import re
from typing import cast

from haversack.model.memory import Json
from haversack.model.message import Image, Opaque, Part, Text
from haversack.wire.shape import Record, as_record, as_text, compact, optional_text, refuse

__all__ = ["FOREIGN_THOUGHT", "load_part", "load_parts", "opaque_record", "picture_note", "safe_name", "sendable"]

FOREIGN_THOUGHT = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Parts that only the model that thought them may be sent; other providers' dumps leave them out."""

_TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LIMIT = 64


def load_parts(content: object, path: str) -> tuple[Part, ...]:
    """A message's content: null and "" are no parts, a string is one, an array or an object is read part by part."""
    match content:
        case None:
            return ()
        case str():
            return (Text(as_text(content, path)),) if content else ()
        case list():
            items = cast("list[Json]", content)
            return tuple(load_part(item, f"{path}[{index}]") for index, item in enumerate(items) if item is not None)
        case dict():
            return (load_part(cast("Json", content), path),)
        case _:
            raise refuse(content, path, "a string, null, or an array of content parts")


def load_part(value: Json, path: str) -> Part:
    """One part; a block of a kind that we do not know is kept whole."""
    if isinstance(value, str):
        return Text(as_text(value, path))
    part = as_record(value, path)
    kind = optional_text(part, "type", path) or ""
    if kind in _TEXT_KEYS:
        key = _TEXT_KEYS[kind]
        return Text(as_text(part.get(key), f"{path}.{key}"))
    return _load_image(kind, part, path) or Opaque(kind=kind, json=compact(part))


def opaque_record(part: Opaque) -> Record:
    """The block that was kept, as the object that it was."""
    value = cast("Json", json.loads(part.json))
    return value if isinstance(value, dict) else {"type": part.kind, "value": value}


def sendable(image: Image) -> bool:
    """Whether a provider could load the picture from its address."""
    return image.url.startswith(("https://", "http://", "data:"))


def picture_note(image: Image) -> str:
    """What stands in a text for a picture that cannot be sent there."""
    return f"[image: {image.caption}]" if image.caption else "[image]"


def safe_name(name: str) -> str:
    """The name in the characters that every provider accepts, at most 64."""
    return _NOT_A_NAME.sub("_", name)[:_NAME_LIMIT]


def _load_image(kind: str, part: Record, path: str) -> Image | None:
    match kind, part:
        case "image_url" | "input_image", {"image_url": str(url)}:
            return Image(url=as_text(url, path), detail=optional_text(part, "detail", path) or "auto")
        case "image_url", {"image_url": {"url": str(url)} as inner}:
            record = as_record(inner, f"{path}.image_url")
            return Image(url=as_text(url, path), detail=optional_text(record, "detail", f"{path}.image_url") or "auto")
        case "image", {"source": {"type": "url", "url": str(url)}}:
            return Image(url=as_text(url, path))
        case "image", {"source": {"type": "base64", "data": str(data), "media_type": str(media)}}:
            return Image(url=as_text(f"data:{media};base64,{data}", path))
        case _:
            return None
