"""Make a store with the code that is installed and write down what it answers, for later code to open.

    python tests/upgrade/record.py FOLDER

writes FOLDER/store.sqlite3 and FOLDER/answers.json. It uses only verbs that every release has.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import haversack

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
QUESTIONS = (
    "Where does Alice live?",
    "What did we decide about the boat?",
    "barley bread recipe",
    "Which units does Alice prefer?",
    "what was said on 3 November?",
)
_TALK = (
    ("user", "Let us plan the trip to Bergen. I would like to sail there with the old boat."),
    ("assistant", "The boat needs a new mast first. The yard in Stavanger quotes 2,400 euros."),
    ("user", "We decided to sell the boat and to take the train instead."),
    ("assistant", "Noted: the boat will be sold, and the train leaves at 7:05 from Oslo."),
    ("user", "Remind me to bake barley bread, the recipe takes 350 g of barley flour and 7 g of salt."),
    ("assistant", "I will remind you about the barley bread on Friday."),
)


def fill(sack: Any) -> None:
    """Use the verbs whose rows a later release must read."""
    ns = sack.namespace("user-alice")
    for day in range(4):
        session = ns.session(f"day-{day}")
        for number, (role, words) in enumerate(_TALK):
            at = NOW - timedelta(days=20 - day, minutes=-number)
            session.add(role, f"{words} ({day})", name="Alice" if role == "user" else None, at=at)
    long = " ".join(f"Paragraph {number} of the ship's log speaks of wind force {number % 9}." for number in range(400))
    ns.session("log").add("user", long, at=NOW - timedelta(days=3))
    city = ns.remember("Alice lives in Rome.", kind="fact", subject="alice/city", event_time=NOW - timedelta(days=90))
    ns.remember("Alice lives in Oslo.", kind="fact", subject="alice/city", event_time=NOW - timedelta(days=9))
    ns.remember("Alice prefers metric units.", kind="fact", tags=["units"], metadata={"page": 3}, pinned=True)
    ns.remember("Barley bread takes 350 g of flour.", kind="procedure", source={"memories": [city.id]})
    soft = ns.remember("Alice keeps a grey cat.", kind="fact")
    hard = ns.remember("The door code is 4711.", kind="fact")
    ns.forget(soft.id)
    ns.forget(hard.id, hard=True)
    ns.forget(session="day-3", hard=True)
    ns.session("day-0").compact()
    ns.edit(ns.remember("Tea is at four.", kind="fact").id, content="Tea is at five.")
    sack.namespace("user-alice ").remember("A neighbour with nearly the same name.", kind="fact")
    sack.keys.create("reader", scope="read", namespaces=["user-*"])


def answers(sack: Any) -> dict[str, object]:
    """What a store answers, by contents, so that ids of one making do not count."""
    ns = sack.namespace("user-alice")
    told: dict[str, object] = {
        "namespaces": sack.namespaces(),
        "keys": [key.name for key in sack.keys.all()],
        "stats": str(ns.stats()),
        "sessions": [(info.id, info.turns) for info in ns.sessions()],
        "turns": {info.id: [turn.message.text[:80] for turn in ns.session(info.id).turns()] for info in ns.sessions()},
        "pinned": [hit.memory.content for hit in ns.recall("units", now=NOW, top_k=5) if hit.memory.pinned],
    }
    for question in QUESTIONS:
        told[question] = [
            (hit.memory.content[:80], round(hit.score, 6)) for hit in ns.recall(question, now=NOW, top_k=10)
        ]
    return told


def main(folder: Path) -> None:
    """Fill a new store, write down its answers, and leave it as one compact file."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        path = Path(made, "store.db")
        with haversack.open(str(path)) as sack:
            fill(sack)
            told = answers(sack)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("DELETE FROM records WHERE collection = 'segment'")
        connection.commit()
        connection.execute("VACUUM")
        connection.close()
        shutil.copy(path, folder / "store.sqlite3")
    (folder / "answers.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
