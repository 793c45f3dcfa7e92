"""The whole message list for one model call, in any provider's shape, with its ledger and every verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haversack.assemble.anchor import Anchor
from haversack.assemble.cascade import StageReport
from haversack.assemble.context import Context
from haversack.assemble.history import TurnVerdicts
from haversack.assemble.toolbox import ToolReport
from haversack.assemble.verdict import Verdict
from haversack.budget import Ledger
from haversack.errors import InputError, nearest
from haversack.model.message import Message, Role
from haversack.wire import anthropic, openai, responses
from haversack.wire.toolshape import shape_tool

__all__ = ["SHAPES", "Prompt", "SessionVerdict"]

SHAPES = ("openai", "anthropic", "responses")
"""The providers' interfaces that `messages` and `request` can write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionVerdict:
    """What became of an earlier session."""

    id: str
    messages: int
    """Of its last complete turns."""
    kept: int
    reason: str
    """`fits`, `no_room`, `no_complete_turn`, or `stable_prefix`: the layout shows no other sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent, and the account of it: the ledger's total is a fresh count of messages, schemas and framing."""

    parts: tuple[Message, ...]
    """The messages, system first, in no provider's shape."""
    tools: tuple[object, ...]
    """The schemas that are sent, as they were given."""
    ledger: Ledger
    context: Context | None
    """The packed memories, empty when none had room; None when there was nothing to pack."""
    turns: TurnVerdicts
    """What became of each message of the past, other sessions' first."""
    tool_report: ToolReport | None
    """What became of each tool; None when all were to be sent."""
    anchor: Anchor | None = None
    """With the `cached` layout: pass it to the next call, so that the prompt repeats this one."""
    events: tuple[str, ...] = ()
    """What changed the prefix since the last call (`cached` layout), such as `history_cut` or `memory_renewed`."""
    stages: tuple[StageReport, ...] = ()
    """The stages of the pruning cascade that ran, in an attention layout; none when everything fits."""
    sessions: tuple[SessionVerdict, ...] = ()
    """What became of the earlier sessions that were considered, newest first."""

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """What became of each memory."""
        return () if self.context is None else self.context.verdicts

    @property
    def tokens(self) -> int:
        """What is sent, in tokens."""
        return self.ledger.total

    @property
    def system(self) -> str:
        """The system text, which Anthropic takes apart from the messages."""
        return "\n\n".join(message.text for message in self.parts if message.role is Role.SYSTEM)

    def messages(self, shape: str = "openai") -> list[Mapping[str, object]]:
        """The messages in a provider's shape, ready to send; Anthropic's `system` text is `self.system`."""
        match shape:
            case "openai":
                return list(openai.dump(self.parts))
            case "anthropic":
                return list(anthropic.dump(self.parts)[1])
            case "responses":
                return list(responses.dump(self.parts))
            case _:
                msg = f"messages({shape!r}) is not known; {nearest(str(shape), SHAPES)}"
                raise InputError(msg)

    def request(self, shape: str = "openai") -> dict[str, object]:
        """Keyword arguments for the provider's client: messages (or input), system, tools."""
        listed = self.messages(shape)
        found: dict[str, object] = {"input" if shape == "responses" else "messages": listed}
        if shape == "anthropic" and self.system:
            found["system"] = self.system
        if self.tools:
            found["tools"] = [shape_tool(tool, shape) for tool in self.tools]
        return found

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return {
            "messages": list(self.messages("openai")),
            "ledger": self.ledger.to_dict(),
            "context": None if self.context is None else self.context.to_dict(),
            "turns": [
                {"id": row.id, "role": str(row.role), "verdict": str(row.verdict), "reason": str(row.reason),
                 "tokens": row.tokens}
                for row in self.turns
            ],
            "events": list(self.events),
            "stages": [{"number": row.number, "name": row.name, "tokens": row.tokens} for row in self.stages],
            "sessions": [
                {"id": row.id, "messages": row.messages, "kept": row.kept, "reason": row.reason}
                for row in self.sessions
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        return str(self.ledger)
