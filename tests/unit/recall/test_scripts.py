"""Probes in several scripts: a word or a part of one finds the text that holds it, alone among the others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from haversack.embed.static import StaticEmbedder
from haversack.model.memory import Kind, Memory, Source
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TEXTS = {
    "chinese": "本周五交付季度报告",
    "chinese mixed": "服务器清单 NAS srv-01",
    "japanese": "明日は図書館で会議をする",
    "katakana": "新しいコンピューターを買った",
    "korean": "회의는 오후 세시에 시작한다",
    "thai": "พรุ่งนี้มีประชุมที่ห้องสมุด",
    "arabic": "الكتاب على الطاولة في المكتبة",
    "russian": "Вчера мы читали интересные книги о море",
    "german": "Die Häuser in der Straße wurden renoviert",
    "french": "Le café près de l'hôtel est fermé",
    "polish": "Książka leży na półce",
    "greek": "Η βιβλιοθήκη είναι κλειστή",
    "hindi": "कल पुस्तकालय में बैठक है",
    "hebrew": "הספר על השולחן",
    "vocalised": "مَدْرَسَة جديدة",
    "turkish": "İzmir gezisi güzel geçti",
    "danish": "Rødgrød med fløde",
    "vietnamese": "Hẹn gặp ở Đà Nẵng",
    "sign": "party tonight 🎉",
    "letter": "C# build flags",
    "initials": "a trip through the U.S.A.",
    "compound": "co-operate on e-mail",
    "suffix": "Görüşme Ankara'da yapılacak",
    "apostrophe": "a pint at O’Brien's",
    "umlaut": "Frau Schröder kommt aus Tübingen",
    "prefixed": "הפגישה נדחתה למחר",
    "armenian": "Հանդիպումը երեքշաբթի է",
    "tamil": "கூட்டம் செவ்வாய்க்கிழமை நடைபெறும்",
}
PROBES = [
    ("报告", "chinese"),
    ("季度报告", "chinese"),
    ("清单", "chinese mixed"),
    ("nas", "chinese mixed"),
    ("図書館", "japanese"),
    ("会議", "japanese"),
    ("館", "japanese"),
    ("コンピューター", "katakana"),
    ("ｺﾝﾋﾟｭｰﾀｰ", "katakana"),
    ("회의", "korean"),
    ("오후", "korean"),
    ("ประชุม", "thai"),
    ("ห้องสมุด", "thai"),
    ("كتاب", "arabic"),
    ("طاولة", "arabic"),
    ("книга", "russian"),
    ("КНИГИ", "russian"),
    ("читать", "russian"),
    ("Haus", "german"),
    ("STRASSE", "german"),
    ("cafe", "french"),
    ("Hôtel", "french"),
    ("hotel", "french"),
    ("ksiazka", "polish"),
    ("βιβλιοθηκη", "greek"),
    ("पुस्तकालय", "hindi"),
    ("הספר", "hebrew"),
    ("הַסֵּפֶר", "hebrew"),
    ("مدرسة", "vocalised"),
    ("المدرسة", "vocalised"),
    ("izmir", "turkish"),
    ("rodgrod", "danish"),
    ("da nang", "vietnamese"),
    ("🎉", "sign"),
    ("C#", "letter"),
    ("USA", "initials"),
    ("cooperate", "compound"),
    ("email", "compound"),
    ("Ankara", "suffix"),
    ("brien", "apostrophe"),
    ("O'Brien", "apostrophe"),
    ("Schroeder", "umlaut"),
    ("tuebingen", "umlaut"),
    ("פגישה", "prefixed"),
    ("מחר", "prefixed"),
    ("հանդիպում", "armenian"),
    ("கூட்டம்", "tamil"),
]


def finder(embedder: StaticEmbedder | None) -> Callable[[str], list[str]]:
    store = MemoryStore()
    rows = [
        Memory(id=name, kind=Kind.FACT, content=text, created_at=NOW, event_time=NOW, source=Source())
        for name, text in TEXTS.items()
    ]
    store.apply("n", Batch(memories=tuple(rows)))
    recall = Recall(store, embedder)
    recall.reembed("n")
    return lambda query: [hit.id for hit in recall.search(["n"], query, now=NOW, top_k=20)]


@pytest.fixture(scope="module")
def by_words() -> Callable[[str], list[str]]:
    return finder(None)


@pytest.fixture(scope="module")
def by_default() -> Callable[[str], list[str]]:
    return finder(StaticEmbedder())


@pytest.mark.parametrize(("query", "name"), PROBES)
def test_a_probe_finds_its_text(by_words: Callable[[str], list[str]], query: str, name: str) -> None:
    assert by_words(query) == [name]


@pytest.mark.parametrize(("query", "name"), PROBES)
def test_a_probe_ranks_its_text_first(by_default: Callable[[str], list[str]], query: str, name: str) -> None:
    assert by_default(query)[0] == name
