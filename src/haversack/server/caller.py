"""Who is calling, and the one way from a route to the engine: a namespace is only ever had through its caller."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Path, Request

from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key, Scope
from haversack.engine.namespace import Namespace
from haversack.guard.refusal import Refused

__all__ = [
    "AdminCaller",
    "AdminNs",
    "Caller",
    "In",
    "Needs",
    "NeedsNamespace",
    "ReadCaller",
    "ReadNs",
    "WriteCaller",
    "WriteNs",
]


_MOST_NAMED = 200
"""Characters of a refused name that are kept."""
_READS = frozenset({"list", "read", "recall", "context", "why", "prompt", "list sessions", "read turns", "wake up"})


@dataclass(frozen=True, slots=True)
class Caller:
    """A checked caller of this request."""

    sack: Haversack
    key: Key
    request: str
    """The request's id."""
    notes_reads: bool = True

    def need(self, scope: Scope) -> None:
        """Refuse unless the key's scope is enough."""
        if not self.key.scope.covers(scope):
            raise Refused(
                403, "INSUFFICIENT_SCOPE", f"this needs a key with the scope {scope}; yours has {self.key.scope}"
            )

    def reach(self, namespaces: Iterable[str]) -> None:
        """Refuse unless every one of these namespaces is open to the key."""
        for name in namespaces:
            if not self.key.reaches(name):
                raise Refused(
                    403,
                    "NAMESPACE_ACCESS_DENIED",
                    f"your key does not reach the namespace {name!r}",
                    namespace=name[:_MOST_NAMED],
                )

    def reach_all(self) -> None:
        """Refuse unless every namespace is open to the key: the answer is about all of them."""
        if self.key.namespaces is not None:
            raise Refused(403, "NAMESPACE_ACCESS_DENIED", "this needs a key that reaches every namespace")

    def namespace(self, name: str, scope: Scope) -> Namespace:
        """The namespace, for a key that may do this much there."""
        self.need(scope)
        self.reach([name])
        return self.sack.namespace(name)

    def note(self, did: str, namespace: str | None = None, *, ids: Iterable[str] = (), **more: object) -> None:
        """Put it into the audit; what destroys or hands out rights is written at once, the rest soon."""
        if did in _READS and not self.notes_reads:
            return
        deed = Deed(
            who=self.key.id,
            did=did,
            namespace=namespace,
            memories=tuple(ids),
            session=cast("str | None", more.get("session")),
            count=cast("int", more.get("count", 0)),
            request=self.request,
        )
        self.sack.audit.note(deed, now=bool(more.get("now")))


@dataclass(frozen=True, slots=True)
class In:
    """A namespace with its caller."""

    caller: Caller
    ns: Namespace

    def note(self, did: str, *, ids: Iterable[str] = (), **more: object) -> None:
        """Put it into the audit."""
        self.caller.note(did, self.ns.name, ids=ids, **more)


class Needs:
    """A route's declared scope; every route of the application depends on one of these."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> Caller:
        """The caller, if the key's scope is enough."""
        caller: Caller = request.state.caller
        caller.need(self.scope)
        return caller


class NeedsNamespace(Needs):
    """The same for a route with a namespace in its path."""

    async def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: Request, namespace: Annotated[str, Path(min_length=1, max_length=1000)]
    ) -> In:
        """The namespace with its caller, if the key reaches it with this scope."""
        caller: Caller = request.state.caller
        return In(caller, caller.namespace(namespace, self.scope))


ReadCaller = Annotated[Caller, Depends(Needs(Scope.READ))]
WriteCaller = Annotated[Caller, Depends(Needs(Scope.WRITE))]
AdminCaller = Annotated[Caller, Depends(Needs(Scope.ADMIN))]
ReadNs = Annotated[In, Depends(NeedsNamespace(Scope.READ))]
WriteNs = Annotated[In, Depends(NeedsNamespace(Scope.WRITE))]
AdminNs = Annotated[In, Depends(NeedsNamespace(Scope.ADMIN))]
