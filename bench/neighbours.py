"""Which frameworks share an environment with us: `make neighbours` asks the resolver and installs nothing.

A framework is named with a version of this year, or the resolver would fall back on one of long ago that fits.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

_EXTRAS = ("", "[mcp]", "[server]")
_FRAMEWORKS = (
    "ag2>=1",
    "agent-framework-core>=1.20",
    "agno>=3",
    "aider-chat>=0.86",
    "autogen-agentchat>=0.7",
    "browser-use>=0.13",
    "chainlit>=2.10",
    "crewai>=1.15",
    "google-adk>=2.10",
    "langchain>=1.5",
    "langgraph>=1.2",
    "litellm[proxy]>=1.108",
    "llama-index-core>=0.14",
    "open-webui>=0.12",
    "openai-agents>=0.20",
    "pydantic-ai-slim>=2.60",
    "semantic-kernel>=1.45",
    "smolagents>=1.26",
    "strands-agents>=1.60",
)
_CONFLICTS = {
    ("aider-chat", "[mcp]"): "it holds idna at 3.11",
    ("chainlit", "[mcp]"): "it holds mcp below 2",
    ("crewai", "[mcp]"): "it holds mcp below 2",
    ("semantic-kernel", "[mcp]"): "it holds mcp below 2",
}
"""Known ones. One that goes away is told as much as one that comes."""
_SILENT = ("error sending request", "failed to fetch", "timed out", "request failed", "dns error", "connect")


def main() -> int:
    chosen = sys.argv[1:] or _FRAMEWORKS
    pairs = list(product(chosen, _EXTRAS))
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(pairs, pool.map(_resolve, *zip(*pairs, strict=True)), strict=True))
    print(f"{'':28}" + "".join(f"{'haversack' + extra:20}" for extra in _EXTRAS))
    surprises: list[str] = []
    for framework in chosen:
        name, cells = framework.partition(">")[0], list[str]()
        for extra in _EXTRAS:
            told = answers[framework, extra]
            why = _CONFLICTS.get((name, extra))
            cells.append("no answer" if told is None else "conflict" if told else "ok")
            if told is not None and bool(told) != bool(why):
                surprises.append(f"{name} beside haversack{extra}: {told or f'resolves now, though {why}'}")
        print(f"{framework:28}" + "".join(f"{cell:20}" for cell in cells))
    print(
        "".join(f"known: {name} beside haversack{extra}: {why}\n" for (name, extra), why in _CONFLICTS.items()), end=""
    )
    print("\n".join(["", *surprises]) if surprises else "as known")
    return 1 if surprises else 0


def _resolve(framework: str, extra: str) -> str | None:
    """Nothing when both resolve together, else the resolver's reason; None when the registry does not answer."""
    ours = f"haversack{extra} @ file:."
    words = ["pip", "compile", "--quiet", "--python-version", "3.12", "--no-header", "--no-annotate", "-"]
    try:
        done = _uv(words, f"{ours}\n{framework}\n")
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == 0:
        return ""
    return None if any(word in done.stderr.lower() for word in _SILENT) else " ".join(done.stderr.split())


def _uv(words: Sequence[str], requirements: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [".venv/bin/uv", *words], input=requirements, capture_output=True, text=True, timeout=150, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
