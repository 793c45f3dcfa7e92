"""When an embedder fails: nothing is lost, words alone tell, and the log says so."""

from __future__ import annotations

import logging
from types import TracebackType

from haversack.errors import ServiceError

__all__ = ["WordsAlone"]

_LOG = logging.getLogger(__name__)


class WordsAlone:
    """`with WordsAlone(): …` goes on behind its block, with one warning in the log, when the embedder in it fails."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        failed = isinstance(error, ServiceError)
        if failed:
            _LOG.warning("words alone tell until the embedder answers: %s", error)
        return failed
