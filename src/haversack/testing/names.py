"""Names that could be taken for one another: by case, blanks, dots, Unicode forms or a limited length."""

from __future__ import annotations

__all__ = ["NEAR_NAMES"]

_LONG = "x" * 300

NEAR_NAMES = (
    "u",
    "U",
    "\uff55",  # the full-width letter
    "u ",
    " u",
    "u\u00a0",
    "u\t",
    "u\n",
    "u\0",
    "u\0u",
    "u\u200b",
    "u.",
    "u..",
    "./u",
    "../u",
    "u/",
    "u%",
    "u_",
    "u*",
    "*",
    "'; --",
    "\u00fc",  # composed
    "u\u0308",  # decomposed
    "\u1e9e",
    "\u00df",
    "ss",
    "\U0001f600",
    f"{_LONG}a",
    f"{_LONG}b",
    f"{_LONG}a ",
)
"""All different; the last ones differ behind more characters than a file's name may have."""
