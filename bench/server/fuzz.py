"""Schemathesis over the whole OpenAPI document: no 5xx, no undeclared answer. `make fuzz` runs it.

It lives in an environment of its own, since its dependencies are many; the first argument is its program.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import haversack
from bench.server.load import serving

_CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
_SKIPPED = "/events$|/keys/"
"""Streams have no end, and a fuzzer that finds its own key revokes it."""
_CONFIG = '[phases.coverage]\nunexpected-methods = ["TRACE"]\n'
"""Methods that the document does not have may be calls of the dakera client, which answer 501 by design."""


def main() -> int:
    program, examples = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "50"
    with tempfile.TemporaryDirectory() as folder:
        store, config = Path(folder) / "memory.db", Path(folder) / "schemathesis.toml"
        config.write_text(_CONFIG, encoding="utf-8")
        with haversack.open(store) as sack:
            key = sack.keys.create("fuzz", scope="admin").secret
        with serving(store) as (port, _):
            words = ["run", f"http://127.0.0.1:{port}/openapi.json", "-H", f"Authorization: Bearer {key}"]
            words += ["--checks", _CHECKS, "--exclude-path-regex", _SKIPPED, "--max-examples", examples]
            return subprocess.run(
                [str(Path(program).absolute()), "--config-file", str(config), *words], cwd=folder, check=False
            ).returncode


if __name__ == "__main__":
    sys.exit(main())
