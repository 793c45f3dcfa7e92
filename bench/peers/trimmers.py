"""The trimmers of LangChain, LlamaIndex and Microsoft's agent framework, as their guides say, with an exact counter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from agent_framework import (
    Content,
    ContextWindowCompactionStrategy,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    apply_compaction,
)
from agent_framework import Message as AgentMessage
from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory

from bench.history.histories import Message
from bench.history.judge import tokens
from bench.recount import recount, token_ids

__all__ = ["TRIMMERS", "Prepared"]

Prepared = Callable[[], Callable[[], object]]
"""Makes ready one call, which is then timed; its answer goes through `read`."""


class _Exact:
    def count_tokens(self, text: str) -> int:
        return recount(text)


def langchain(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    messages = convert_to_messages(list(history))

    def count(chosen: list) -> int:
        return tokens(convert_to_openai_messages(chosen))

    return lambda: convert_to_openai_messages(
        trim_messages(
            messages,
            max_tokens=budget,
            token_counter=count,
            strategy="last",
            start_on="human",
            include_system=True,
        )
    )


def llama_buffer(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    system, rest = history[:1], history[1:]
    memory = ChatMemoryBuffer.from_defaults(
        token_limit=budget, tokenizer_fn=token_ids, chat_history=[_to_llama(message) for message in rest]
    )
    taken = tokens(system)
    return lambda: [*system, *map(_from_llama, memory.get(initial_token_count=taken))]


def llama_memory(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    system, rest = history[:1], history[1:]
    memory = Memory.from_defaults(
        session_id="bench", token_limit=budget - tokens(system), chat_history_token_ratio=1.0, tokenizer_fn=token_ids
    )
    memory.put_messages([_to_llama(message) for message in rest])
    return lambda: [*system, *map(_from_llama, memory.get())]


def agent_window(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    """The strategy that it derives from a window, with its default thresholds."""
    strategy = ContextWindowCompactionStrategy(
        max_context_window_tokens=budget, max_output_tokens=0, tokenizer=_Exact()
    )
    return _agent(history, strategy)


def agent_budget(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    """Tool results collapsed, then a sliding window, then its strict fallback."""
    strategy = TokenBudgetComposedStrategy(
        token_budget=budget,
        tokenizer=_Exact(),
        strategies=[
            ToolResultCompactionStrategy(keep_last_tool_call_groups=4),
            SlidingWindowStrategy(keep_last_groups=40),
        ],
    )
    return _agent(history, strategy)


def _agent(history: Sequence[Message], strategy: object) -> Callable[[], list[Message]]:
    """Compaction marks the messages that it is given, so each call makes new ones."""
    return lambda: [
        one
        for message in asyncio.run(
            apply_compaction([_to_agent(message) for message in history], strategy=strategy, tokenizer=_Exact())
        )
        for one in _from_agent(message)
    ]


def _to_llama(message: Message) -> ChatMessage:
    extra = {key: message[key] for key in ("tool_calls", "tool_call_id") if key in message}
    return ChatMessage(role=message["role"], content=message["content"], additional_kwargs=extra)


def _from_llama(message: ChatMessage) -> Message:
    return {"role": message.role.value, "content": message.content or "", **message.additional_kwargs}


def _to_agent(message: Message) -> AgentMessage:
    if message["role"] == "tool":
        contents = [Content.from_function_result(message["tool_call_id"], result=message["content"])]
    else:
        contents = [Content.from_text(message["content"])] if message["content"] else []
        contents += [
            Content.from_function_call(call["id"], call["function"]["name"], arguments=call["function"]["arguments"])
            for call in message.get("tool_calls") or []
        ]
    return AgentMessage(message["role"], contents)


def _from_agent(message: AgentMessage) -> list[Message]:
    texts = [content.text or "" for content in message.contents if content.type == "text"]
    calls = [content for content in message.contents if content.type == "function_call"]
    results = [content for content in message.contents if content.type == "function_result"]
    if results:
        return [{"role": "tool", "content": str(one.result), "tool_call_id": one.call_id} for one in results]
    whole: Message = {"role": str(message.role), "content": "".join(texts)}
    if calls:
        whole["tool_calls"] = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": _text(c.arguments)}}
            for c in calls
        ]
    return [whole]


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


TRIMMERS = {
    "LangChain trim_messages": langchain,
    "LlamaIndex ChatMemoryBuffer": llama_buffer,
    "LlamaIndex Memory": llama_memory,
    "agent-framework, context window": agent_window,
    "agent-framework, token budget": agent_budget,
}
