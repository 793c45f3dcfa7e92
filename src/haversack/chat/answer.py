"""One turn: the user's words are kept, the prompt is made, the answer streams, tools are called, all of it is kept.

Law: what was said is in the store before anything else happens with it, and a stopped or failed answer keeps its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from haversack.assemble import Prompt
from haversack.chat.behind import after_turn, before_prompt
from haversack.chat.screen import printable
from haversack.chat.spending import FIELD, mark, spent_on
from haversack.chat.talk import Talk
from haversack.errors import HaversackError
from haversack.llm.port import Cancel, ChatService, Reply, ServiceCancelled, Usage
from haversack.model.message import Role, ToolCall
from haversack.model.text import is_blank
from haversack.tokens import counter_for

__all__ = ["STOPPED", "take_turn"]

STOPPED = "stopped"
"""How an answer ended that the person stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """An answer as far as it came."""

    text: str
    reply: Reply | None = None
    failure: HaversackError | None = None

    @property
    def ended(self) -> str:
        """Why it ended early; empty when it is whole."""
        match self.failure:
            case None:
                return "length" if self.reply and self.reply.finish in {"length", "max_tokens"} else ""
            case ServiceCancelled():
                return STOPPED
            case _:
                return f"failed: {self.failure}"


def take_turn(talk: Talk, words: str, cancel: Cancel) -> None:
    """Keep the words and answer them. Raises HaversackError when there is no whole answer; what came is kept."""
    talk.session.add("user", words)
    before_prompt(talk, cancel)
    prompt = talk.last = talk.build()
    if talk.service is None:
        _show_unsent(talk, prompt)
        return
    left = talk.settings.rounds
    while calls := _hear(talk, talk.service, prompt, cancel):
        if left == 0:
            for call in calls:
                _keep_result(talk, call, f"not called: at most {talk.settings.rounds} rounds", failed=True)
            talk.screen.note(f"stopped after {talk.settings.rounds} rounds of tools (chat.rounds)")
            break
        left -= 1
        _call_tools(talk, calls, cancel)
        prompt = talk.last = talk.build()
    after_turn(talk)


def _hear(talk: Talk, service: ChatService, prompt: Prompt, cancel: Cancel) -> tuple[ToolCall, ...]:
    """Stream and keep one answer; returns the calls that it makes."""
    heard = _listen(talk, service, prompt, cancel)
    _keep(talk, service, prompt, heard)
    if heard.failure is not None:
        raise heard.failure
    return heard.reply.tool_calls if heard.reply else ()


def _listen(talk: Talk, service: ChatService, prompt: Prompt, cancel: Cancel) -> _Heard:
    show: Callable[[str], None] = (lambda _: None) if talk.screen.as_json else talk.screen.piece
    text = ""
    try:
        for piece in service.stream(
            prompt.parts, tools=prompt.tools, max_tokens=prompt.ledger.reserved or None, cancel=cancel
        ):
            if isinstance(piece, Reply):
                return _Heard(text=text, reply=piece)
            text += piece
            show(printable(piece))
    except HaversackError as failure:
        return _Heard(text=text, failure=failure)
    finally:
        if text:
            show("\n")
    return _Heard(text=text)


def _keep(talk: Talk, service: ChatService, prompt: Prompt, heard: _Heard) -> None:
    """The answer as a turn; nothing is kept of one that has neither words nor calls."""
    calls = heard.reply.tool_calls if heard.reply else ()
    if is_blank(heard.text) and not calls:
        if heard.failure is None:
            talk.screen.note("the model answered nothing")
        return
    usage = heard.reply.usage if heard.reply else None
    counted = usage or Usage(input_tokens=prompt.tokens, output_tokens=counter_for(talk.model).count(heard.text))
    if usage is not None:
        talk.sack.learn(talk.model, counted=prompt.tokens, reported=usage.input_tokens)
    model = heard.reply.model if heard.reply else service.model
    kept = mark(model=_priced(talk, model, service), usage=counted, estimated=usage is None, ended=heard.ended)
    made: dict[str, Any] = {"tool_calls": [_call_record(call) for call in calls]} if calls else {}
    turn = talk.session.add("assistant", heard.text or None, metadata={FIELD: kept}, **made)
    talk.spent = sum(spent_on([turn], talk.memory.costs.prices).values(), talk.spent)
    if talk.screen.as_json and not calls:
        talk.screen.json({"role": "assistant", "text": heard.text, "turn": turn.id, "position": turn.position, **kept})
    if heard.ended == "length":
        talk.screen.note("the answer was cut at its reserve: memory.output_buffer makes it larger")


def _priced(talk: Talk, model: str, service: ChatService) -> str:
    """Providers answer with a dated name; the price may stand under the one that was configured."""
    return (
        service.model if model not in talk.memory.costs.prices and service.model in talk.memory.costs.prices else model
    )


def _call_tools(talk: Talk, calls: tuple[ToolCall, ...], cancel: Cancel) -> None:
    """Call one after the other and keep each result at once; calls that are stopped get a result that says so."""
    stopped: ServiceCancelled | None = None
    for call in calls:
        if stopped is not None:
            _keep_result(talk, call, "not called: stopped before its turn", failed=True)
            continue
        talk.screen.note(f"tool {printable(call.name)} {printable(_short(call.arguments))}")
        try:
            result = talk.tools.call(call.name, call.arguments, cancel)
        except ServiceCancelled as stop:
            stopped = stop
            _keep_result(talk, call, "stopped before it ended", failed=True)
            continue
        if result.failed:
            talk.screen.note(f"tool {printable(call.name)} failed: {printable(_short(result.text))}")
        _keep_result(talk, call, _cut(talk, result.text) or "(nothing)", failed=result.failed)
    if stopped is not None:
        raise stopped


def _keep_result(talk: Talk, call: ToolCall, words: str, *, failed: bool) -> None:
    told: dict[str, Any] = {FIELD: {"tool": call.name, "failed": failed}}
    talk.session.add(Role.TOOL, words, tool_call_id=call.id, metadata=told)


def _cut(talk: Talk, words: str) -> str:
    counter, limit = counter_for(talk.model), talk.settings.result_tokens
    if counter.count(words) <= limit:
        return words
    return f"{counter.truncate(words, limit)}\n[cut here: the whole result has {len(words):,} characters]"


def _call_record(call: ToolCall) -> Mapping[str, object]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _show_unsent(talk: Talk, prompt: Prompt) -> None:
    """Without a service: the prompt that would be sent; the conversation itself in one line."""
    screen = talk.screen
    if screen.as_json:
        screen.json({"role": "prompt", "messages": prompt.messages("openai"), "ledger": prompt.ledger.to_dict()})
        return
    room = prompt.ledger.budget - prompt.ledger.reserved
    screen.note(f"no chat service is configured; this prompt of {prompt.tokens:,} of {room:,} tokens would be sent:")
    history = prompt.ledger.tokens("history")
    if history:
        screen.text(f"[history] {history:,} tokens (/prompt shows all)")
    if prompt.context is not None and prompt.context.items:
        screen.text(f"[memories] {printable(prompt.context.text.rstrip())}")
    screen.text(f"[user] {printable(prompt.parts[-1].text)}")


def _short(words: str, limit: int = 200) -> str:
    line = " ".join(words.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
