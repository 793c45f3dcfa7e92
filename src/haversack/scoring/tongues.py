"""The time words of other languages put into English, so that one set of rules reads them all. Pure.

German, French, Spanish, Italian, Portuguese, Dutch, Russian, Swedish, Polish, Turkish and Indonesian here, and the
commonest phrases of Arabic, Hindi, Vietnamese and Thai; Chinese, Japanese and Korean in `ideographs`.
A text without any of their time words comes back as it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from haversack.cached import cached
from haversack.scoring.calendars import DAYS, MONTHS
from haversack.scoring.ideographs import from_ideographs

__all__ = ["in_english", "month_numbers"]

_WORDS = {
    "yesterday": "gestern gisteren ayer ieri ontem вчера",
    "day before yesterday": "vorgestern eergisteren avant-hier anteayer altroieri anteontem позавчера",
    "today": "heute vandaag aujourd'hui aujourd’hui hoy oggi hoje сегодня",
    "tomorrow": "morgen demain mañana domani amanhã завтра",
    "day after tomorrow": "übermorgen overmorgen après-demain dopodomani послезавтра",
    "day": "tage tagen dagen jour jours día dias días giorni giorno dia день дня дней",
    "week": "woche wochen weken semaine semaines semana semanas settimana settimane kalenderwoche "
    "неделя неделю недели неделе недель",
    "month": "monat monate monaten monats maand maanden mois mes meses mese mesi mês месяц месяца месяцев месяце",
    "year": "jahr jahre jahren jahres jaar année années ans año años anno anni ano anos год года году лет",
    "quarter": "quartal quartals trimestre kwartaal квартал квартала квартале",
    "weekend": "wochenende week-end выходные выходных",
    "when": "wann wanneer quand cuándo cuando quando когда",
    "latest": "neueste neuester neuesten aktuell aktuelle aktuellen zuletzt actuel actuelle actuellement actualmente "
    "attuale attualmente atualmente последний последняя последнее",
    "how long": "combien cuánto quanto сколько",
}
_MONTHS = (
    "januar jänner janvier enero gennaio janeiro januari январь января январе ocak stycznia styczeń styczniu يناير",
    "februar février febrero febbraio fevereiro februari февраль февраля феврале şubat lutego luty lutym فبراير",
    "märz marzo março maart март марта марте marca marzec maret مارس",
    "avril abril aprile апрель апреля апреле nisan kwietnia kwiecień أبريل",
    "mai maggio maio mei май мая мае maj maja mayıs مايو",
    "juni juin junio giugno junho июнь июня июне haziran czerwca czerwiec يونيو",
    "juli juillet julio luglio julho июль июля июле temmuz lipca lipiec يوليو",
    "août agosto augustus август августа августе ağustos augusti sierpnia sierpień agustus أغسطس",
    "septembre septiembre settembre setembro сентябрь сентября сентябре eylül września wrzesień سبتمبر",
    "oktober octobre octubre ottobre outubro октябрь октября октябре ekim października październik أكتوبر",
    "novembre noviembre novembro ноябрь ноября ноябре kasım listopada listopad نوفمبر",
    "dezember décembre diciembre dicembre dezembro декабрь декабря декабре aralık grudnia grudzień desember ديسمبر",
)
_ABROAD = {
    "yesterday": "igår|i går|wczoraj|dün|kemarin|أمس|बीता कल|hôm qua|เมื่อวานนี้|เมื่อวาน",
    "day before yesterday": "i förrgår|förrgår|przedwczoraj|evvelsi gün|kemarin lusa|أول أمس|परसों|hôm kia|เมื่อวานซืน",
    "today": "idag|i dag|dzisiaj|dziś|bugün|hari ini|اليوم|आज|hôm nay|วันนี้",
    "tomorrow": "imorgon|i morgon|jutro|yarın|besok|غدا|غداً|ngày mai|พรุ่งนี้",
    "last week": "förra veckan|w zeszłym tygodniu|zeszły tydzień|w ubiegłym tygodniu|geçen hafta|minggu lalu"
    "|الأسبوع الماضي|पिछले हफ़्ते|पिछले हफ्ते|पिछले सप्ताह|tuần trước|tuần qua|สัปดาห์ที่แล้ว|อาทิตย์ที่แล้ว",
    "last month": "förra månaden|w zeszłym miesiącu|w ubiegłym miesiącu|geçen ay|bulan lalu|الشهر الماضي"
    "|पिछले महीने|tháng trước|เดือนที่แล้ว",
    "last year": "förra året|i fjol|w zeszłym roku|w ubiegłym roku|geçen yıl|geçen sene|tahun lalu|العام الماضي"
    "|السنة الماضية|पिछले साल|पिछले वर्ष|năm ngoái|ปีที่แล้ว",
    "this week": "den här veckan|w tym tygodniu|bu hafta|minggu ini|هذا الأسبوع|इस हफ़्ते|इस हफ्ते|इस सप्ताह"
    "|tuần này|สัปดาห์นี้|อาทิตย์นี้",
    "this month": "den här månaden|w tym miesiącu|bu ay|bulan ini|هذا الشهر|इस महीने|tháng này|เดือนนี้",
    "this year": "i år|w tym roku|bu yıl|bu sene|tahun ini|هذا العام|هذه السنة|इस साल|năm nay|ปีนี้",
    "next week": "nästa vecka|w przyszłym tygodniu|gelecek hafta|haftaya|minggu depan|الأسبوع القادم"
    "|अगले हफ़्ते|अगले हफ्ते|अगले सप्ताह|tuần sau|tuần tới|สัปดาห์หน้า|อาทิตย์หน้า",
    "next month": "nästa månad|w przyszłym miesiącu|gelecek ay|bulan depan|الشهر القادم|अगले महीने|tháng sau|เดือนหน้า",
    "next year": "nästa år|w przyszłym roku|gelecek yıl|tahun depan|العام القادم|अगले साल|năm sau|ปีหน้า",
    "when": "ne zaman|kiedy|kapan|متى|कब|khi nào|bao giờ|เมื่อไหร่|เมื่อไร",
}
"""Phrases, in lower case, whose words have no place of their own in a sentence."""
_ABROAD_UNITS = {
    "day": "dagar|dag|dni|dzień|gün|hari|أيام|يوم|يوما|दिन|ngày|วัน",
    "week": "veckor|vecka|tygodnie|tygodni|tydzień|hafta|minggu|أسابيع|أسبوع|हफ़्ते|हफ्ते|सप्ताह|tuần|สัปดาห์|อาทิตย์",
    "month": "månader|månad|miesiące|miesięcy|miesiąc|ay|bulan|أشهر|شهور|شهر|महीने|tháng|เดือน",
    "year": "år|lata|lat|rok|yıl|sene|tahun|سنوات|سنة|أعوام|عام|साल|वर्ष|năm|ปี",
}
_IN_DATES_ALONE = (
    "jän janv ene gen",
    "févr",
    "mär mars mart mrt",
    "abr avr",
    "mayo",
    "",
    "juil",
    "août ago aug",
    "sept set",
    "okt ott out",
    "",
    "dez déc dic",
)
"""Short names, and names that are other words elsewhere."""
_DAYS = (
    "montag maandag lundi lunes lunedì segunda-feira понедельник понедельника",
    "dienstag dinsdag mardi martes martedì terça-feira вторник вторника",
    "mittwoch woensdag mercredi miércoles mercoledì quarta-feira среда среду среды",
    "donnerstag donderdag jeudi jueves giovedì quinta-feira четверг четверга",
    "freitag vrijdag vendredi viernes venerdì sexta-feira пятница пятницу пятницы",
    "samstag sonnabend zaterdag samedi sábado sabato суббота субботу субботы",
    "sonntag zondag dimanche domingo domenica воскресенье воскресенья",
)
_NUMBERS = {
    "one": "ein eine einem einer eines een un une una um uma один одну",
    "two": "zwei twee deux dos due dois duas два две",
    "three": "drei drie trois tres tre três три",
    "four": "vier quatre cuatro quattro quatro четыре",
    "five": "fünf vijf cinq cinco cinque пять",
    "six": "sechs zes six seis sei шесть",
    "seven": "sieben zeven sept siete sette sete семь",
    "eight": "acht huit ocho otto oito восемь",
    "nine": "neun negen neuf nueve nove девять",
    "ten": "zehn tien dix diez dieci dez десять",
}
_FRENCH = frozenset("le les la je tu nous vous ils elle est que qui quoi où avec ai avons as avez".split())  # noqa: SIM905
"""`hier` is yesterday in French and here in German: one of these words tells."""
_LAST = r"letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?|afgelopen|derni[eè]re?|[uú]ltim[oa]|прошл\w+"
_LASTS = r"letzten|vergangenen|afgelopen|laatste|derni[eè]re?s|[uú]ltim[oa]s|ultim[ie]|последн\w+"
_NEXT = r"nächste[nrms]?|kommende[nrms]?|volgende?|pr[oó]xim[oa]|prossim[oa]|следующ\w+"
_THIS = r"diese[nrms]?|deze|dit|cet?|cette|est[ae]|quest[oa]|nest[ae]|эт(?:ой|от|ом|у|и)"
_LAST_BEHIND = r"dernière?|passée?|pasad[oa]|scors[oa]|passad[oa]"
_NEXT_BEHIND = r"prochaine?|que viene|que vem|pr[oó]xim[oa]|prossim[oa]"
_SMALL = r"\b(?:(?:der|den|dem|die|das|am|im|in|la|le|el|il|los|las|les|de|het|o|a|os|as|na|no|в|во|на) |l['\u2019])?"
_UNIT = r"(?P<unit>day|week|month|quarter|year|weekend)"
_DAY = r"(?P<day>" + "|".join(DAYS) + r")"
_UNIT_OR_DAY = r"(?:on )?(?P<unit>day|week|month|quarter|year|weekend|" + "|".join(DAYS) + r")\b"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r")"
_MONTH = r"(?P<month>" + "|".join(MONTHS) + r")\b"
_OF = r"(?:de|del|do|di|des|van|von)"
_WORD = re.compile(
    r"aujourd['\u2019]hui|avant-hier|après-demain|(?:segunda|terça|quarta|quinta|sexta)-feira|week-end|[^\W\d_]+"
)
_RULES = {
    r"\b(?P<near>yesterday|today) tomorrow\b": r"\g<near>",  # heute morgen
    r"\b(?:por|de|in) la tomorrow\b": "",  # por la mañana
    r"\besta tomorrow\b": "today",
    r"\b(?:wie lange|how long de temps|how long tiempo|how long tempo|how long времени)\b": "how long",
    r"\bfin de week\b": "weekend",
    r"\b(?:am|ce|le|il|el|no|nel|на) weekend\b": "on the weekend",
    rf"\b(?P<number>\d{{1,2}})(?:\.|er|º|°|-го)? (?:{_OF} )?{_MONTH}": r"\g<number> \g<month>",
    rf"\b{_MONTH} {_OF} (?P<year>\d{{4}})\b": r"\g<month> \g<year>",
    rf"\b(?:im|en|em|nel|au|в) {_MONTH}": r"in \g<month>",
    r"\b(?P<number>[1-4])(?:\.|er|º|°|o|e|ème|-й|-м)? quarter(?: (?:de|del|do|di))?\b": r"q\g<number>",
    rf"{_SMALL}(?:{_LASTS}) {_COUNT} {_UNIT}\b": r"last \g<count> \g<unit>",
    rf"\b(?:vor|il y a|hace|ha|há) {_COUNT} {_UNIT}\b": r"\g<count> \g<unit> ago",
    rf"\b{_COUNT} {_UNIT} (?:fa|atrás|geleden|назад)\b": r"\g<count> \g<unit> ago",
    rf"\b{_UNIT} назад\b": r"one \g<unit> ago",
    rf"\b(?:in|dans|en|dentro de|fra|tra|em|over|через) {_COUNT} {_UNIT}\b": r"\g<count> \g<unit> from now",
    rf"\bчерез {_UNIT}\b": r"one \g<unit> from now",
    rf"{_SMALL}{_UNIT_OR_DAY} (?:{_LAST_BEHIND})\b": r"last \g<unit>",
    rf"{_SMALL}{_UNIT_OR_DAY} (?:{_NEXT_BEHIND})\b": r"next \g<unit>",
    rf"{_SMALL}(?:{_LAST}) {_UNIT_OR_DAY}": r"last \g<unit>",
    rf"{_SMALL}(?:{_NEXT}) {_UNIT_OR_DAY}": r"next \g<unit>",
    rf"{_SMALL}(?:{_THIS}) {_UNIT_OR_DAY}": r"this \g<unit>",
}


_TELLING = frozenset(("vorige", "afgelopen", "volgende", "geleden"))
"""Beside words that are English as well, such as `week`."""


class _Tables(NamedTuple):
    triggers: frozenset[str]
    words: dict[str, str]


@cached(16)
def in_english(text: str) -> str:
    """The lower-case text with its time words in English."""
    if not text.isascii():
        text = from_ideographs(text)
    if not text.isascii() or _ASCII_SIGNS.search(text) is not None:
        text = _in_phrases(text)
    tables = _tables()
    found = _WORD.findall(text)
    french = "hier" in found and not _FRENCH.isdisjoint(found)
    if not french and tables.triggers.isdisjoint(found) and _MARS.search(text) is None:
        return text
    text = _MARS.sub(lambda match: match["before"] + _IN_DATES[match["month"]], text)
    text = _WORD.sub(lambda match: tables.words.get(match.group(), match.group()), text)
    if french:
        text = re.sub(r"\bhier\b", "yesterday", text)
    for pattern, said in _rules():
        text = pattern.sub(said, text)
    return text


_ASCII_SIGNS = re.compile(
    r"\b(?:kemarin|besok|hari|minggu|bulan|tahun|jutro|wczoraj|kiedy|kapan|temu|hafta|zaman|bu ay)\b"
)
"""Without one of these, and in ASCII, none of the phrases stands in a text."""
_THAI = "\u0e00-\u0e7f"


def _in_phrases(text: str) -> str:
    counted, phrases, said = _abroad()

    def ago(match: re.Match[str]) -> str:
        return f" {match['count'] or match['number']} {said[match['unit'] or match['counted']]} ago "

    return phrases.sub(lambda match: f" {said[match[0]]} ", counted.sub(ago, text))


@cache
def _abroad() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    said = {each: english for english, words in (_ABROAD | _ABROAD_UNITS).items() for each in words.split("|")}
    phrases = sorted((each for words in _ABROAD.values() for each in words.split("|")), key=len, reverse=True)
    units = "|".join(
        sorted((each for words in _ABROAD_UNITS.values() for each in words.split("|")), key=len, reverse=True)
    )
    counted = (
        rf"(?<!\w)(?:för )?(?P<count>\d{{1,3}}) ?(?P<unit>{units}) ?"
        r"(?:sedan|temu|önce|yang lalu|lalu|पहले|trước|ก่อน|ที่แล้ว|มาแล้ว)"
        rf"|(?<!\w)قبل (?P<number>\d{{1,3}}) (?P<counted>{units})(?!\w)"
    )
    whole = "|".join(rf"{each}" if re.match(f"[{_THAI}]", each) else rf"(?<!\w){each}(?!\w)" for each in phrases)
    return re.compile(counted), re.compile(whole), said


@cache
def month_numbers() -> dict[str, int]:
    """The number of each month by each of its names, which beside a day's number are nothing else."""
    names = [f"{english} {english[:3]} {each}" for english, each in zip(MONTHS, _MONTHS, strict=True)]
    numbers = {name: number for number, each in enumerate(names, 1) for name in each.split()}
    short = {name: number for number, each in enumerate(_IN_DATES_ALONE, 1) for name in each.split()}
    return numbers | {name: number for name, number in short.items() if name not in _ENGLISH}


_ENGLISH = frozenset(("ago", "gen", "mart", "out", "set"))
"""Short names of months that stand beside a number in English without a date: 5 out of 6, a set of 3."""
_IN_DATES = {"mars": "march", "mart": "march", "mayo": "may"}
_MARS = re.compile(
    r"(?P<before>\b\d{1,2}(?:er|\.|º)? (?:de )?|\b(?:en|début|fin|du|au|mois de|mes de) )(?P<month>mars|mart|mayo)\b"
)
"""Months that are other words in English count only beside a number or behind a foreign word."""


@cache
def _tables() -> _Tables:
    words = {word: said for said, each in _WORDS.items() for word in each.split()}
    words |= {word: month for month, each in zip(MONTHS, _MONTHS, strict=True) for word in each.split()}
    words |= {word: f"on {day}" for day, each in zip(DAYS, _DAYS, strict=True) for word in each.split()}
    return _Tables(_TELLING.union(words), words)


@cache
def _rules() -> list[tuple[re.Pattern[str], str]]:
    counts = {rf"\b(?:{each.replace(' ', '|')}) (?={_UNIT}\b)": f"{number} " for number, each in _NUMBERS.items()}
    return [(re.compile(pattern), said) for pattern, said in (counts | _RULES).items()]
