"""Who is calling: the one namespace of the call, and what the key allows there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key, Scope
from haversack.engine.namespace import Namespace
from haversack.errors import HaversackError

__all__ = ["NOBODY", "Caller", "Refused"]

NOBODY = "mcp"
"""Who did it, in the audit, where nobody has to show a key."""


class Refused(HaversackError):  # noqa: N818 - named for what happened
    """The caller's key does not allow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A caller of one namespace; without a key, the process that started the server."""

    sack: Haversack
    namespace: str
    key: Key | None = None
    denied: Callable[[str, Key], None] = field(default=lambda _, __: None)
    """Told the code of a denial and the key that was refused."""

    def open(self, scope: Scope) -> Namespace:
        """The namespace, for a caller who may do this much there."""
        if self.key is not None and not self.key.scope.covers(scope):
            self.denied("INSUFFICIENT_SCOPE", self.key)
            raise Refused(f"this needs a key with the scope {scope}; yours has {self.key.scope}")
        if self.key is not None and not self.key.reaches(self.namespace):
            self.denied("NAMESPACE_ACCESS_DENIED", self.key)
            raise Refused(f"your key does not reach the namespace {self.namespace!r}")
        return self.sack.namespace(self.namespace)

    def note(self, did: str, *, memories: Iterable[str], session: str | None, request: str) -> None:
        """Put it into the audit, which is written soon."""
        self.sack.audit.note(
            Deed(
                who=NOBODY if self.key is None else self.key.id,
                did=did,
                namespace=self.namespace,
                memories=tuple(memories),
                session=session,
                request=request,
            )
        )
