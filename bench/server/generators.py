"""Public generators of clients over our OpenAPI document: each must make a call of every route.

`make test-generators` runs it. The first argument is the folder that both generators are installed in.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import haversack
from haversack.server.app import create_app

Routes = set[tuple[str, str]]
"""Methods and paths; the names of what stands in a path are left out, since generators may change them."""


def main() -> int:
    tools, missing = Path(sys.argv[1]).absolute(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        document = _document(folder / "openapi.json")
        wanted = {_route(verb, path) for path, operations in document["paths"].items() for verb in operations}
        for tool, generate in _GENERATORS.items():
            left_out = sorted(wanted - generate(tools, folder))
            print(f"{tool}: {len(wanted) - len(left_out)} of {len(wanted)} routes")
            print("".join(f"  without {verb} {path}\n" for verb, path in left_out), end="")
            missing += len(left_out)
    return 1 if missing else 0


def _document(file: Path) -> Mapping[str, Any]:
    with haversack.open(":memory:", embedder="none") as sack:
        document = create_app(sack).openapi()
    file.write_text(json.dumps(document), encoding="utf-8")
    return document


def _python(tools: Path, folder: Path) -> Routes:
    (folder / "config.yaml").write_text("post_hooks: []\n", encoding="utf-8")  # no formatting of what is thrown away
    words = ["--path", "openapi.json", "--output-path", "python", "--config", "config.yaml"]
    _run(folder, tools / "bin/openapi-python-client", "generate", *words)
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("python/*/api/*/*.py")]
    found = [re.search(r'"method": "(\w+)",\s+"url": "([^"]+)"', text) for text in texts]
    return {_route(*one.groups()) for one in found if one}


def _typescript(tools: Path, folder: Path) -> Routes:
    _run(folder, tools / "node_modules/.bin/openapi-typescript", "openapi.json", "--output", "api.ts")
    paths = (folder / "api.ts").read_text(encoding="utf-8").partition("\nexport type webhooks")[0]
    found = re.findall(r'^ {4}"(/[^"]*)": \{(.*?)^ {4}\};', paths, re.MULTILINE | re.DOTALL)
    return {
        _route(verb, path) for path, body in found for verb in re.findall(r"^ {8}(\w+): operations", body, re.MULTILINE)
    }


_GENERATORS: Mapping[str, Callable[[Path, Path], Routes]] = {
    "openapi-python-client": _python,
    "openapi-typescript": _typescript,
}


def _route(verb: str, path: str) -> tuple[str, str]:
    return verb.upper(), re.sub(r"\{[^}]*\}", "{}", path)


def _run(folder: Path, *words: Path | str) -> None:
    subprocess.run([*map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
