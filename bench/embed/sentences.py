"""Sentences for teaching the default embedder's table: WordNet 3.0's glosses and examples, with the model's vectors.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb DIR
    python -m bench.embed.sentences DIR/usr/share/wordnet sentences.npz

WordNet may be used for any purpose (Princeton's WordNet licence, in the Debian package). The vectors are those of the
`onnx` extra's model, and take a quarter of an hour.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from haversack.embed.onnx import OnnxEmbedder

_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
_GLOSSES = 45_000
_SEED = 7
_EXAMPLE = re.compile(r'"([^"]{12,})"')
_QUOTED = re.compile(r';?\s*"[^"]*"')


def read_wordnet(folder: Path) -> list[str]:
    """All example sentences and a random 45,000 of the definitions and synonym lists, shuffled."""
    examples, glosses = list[str](), list[str]()
    for name in _FILES:
        for line in (folder / name).read_text("latin-1").splitlines():
            if "|" in line and not line.startswith("  "):
                head, gloss = line.split("|", 1)
                examples += [example.strip(' "') for example in _EXAMPLE.findall(gloss)]
                glosses += _definitions(head.split(), _QUOTED.sub("", gloss).strip(" ;"))
    generator = random.Random(_SEED)
    generator.shuffle(glosses)
    texts = [*dict.fromkeys(examples), *list(dict.fromkeys(glosses))[:_GLOSSES]]
    generator.shuffle(texts)
    return texts


def _definitions(fields: list[str], definition: str) -> Iterator[str]:
    words = [fields[4 + 2 * n].replace("_", " ").split("(")[0] for n in range(int(fields[3], 16))]
    if definition:
        yield f"{words[0]}: {definition}"
        if len(words) > 1:
            yield ", ".join(words)


def main(folder: Path, target: Path) -> None:
    texts = read_wordnet(folder)
    np.savez(target, texts=np.array(texts), vectors=OnnxEmbedder().embed(texts).astype(np.float16))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
