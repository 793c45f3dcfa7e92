"""The time words of Chinese, Japanese and Korean put into English; they stand inside sentences without spaces. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from haversack.model.text import normalized
from haversack.scoring.calendars import DAYS, MONTHS

__all__ = ["from_ideographs"]

_ANY = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_ONES = {"一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_KOREAN = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
_DAYS = dict(zip("一二三四五六日", DAYS, strict=True)) | {
    "天": DAYS[6],
    **dict(zip("月火水木金土", DAYS, strict=False)),
    **dict(zip("월화수목금토일", DAYS, strict=True)),
}
_N = r"(?P<count>(?<!\d)\d{1,6}|[一二两兩三四五六七八九十]{1,3}|" + "|".join(_KOREAN) + r")\s*"
_M = r"(?P<month>\d\d?|十[一二]?|[一二三四五六七八九])\s*[月월]"
_D = r"\s*(?P<day>\d\d?|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号號일]"
_Y = r"(?P<year>(?:19|20)\d\d)\s*[年년]\s*"
_WEEK = r"(?:个|個)?(?:周|週|星期|礼拜|禮拜)"
_UNITS = {
    "day": re.compile(r"天|日(?!本)|일"),
    "week": re.compile(r"週間|(?:个|個)?(?:周|週|星期|礼拜|禮拜)|주일?"),
    "month": re.compile(r"(?:个|個|[かヶケカ箇])月|개월|달"),
    "year": re.compile(r"年|년"),
}
_UNIT = "(?P<unit>" + "|".join(words.pattern for words in _UNITS.values()) + ")"
_NEAR = {
    "day before yesterday": "一昨日|おととい|前天|그저께|그제",
    "yesterday": "昨[天日晚夜]|きのう|어제|어젯밤",
    "day after tomorrow": "明後日|あさって|后天|後天|모레",
    "tomorrow": "明天|明日|あした|내일",
    "today": "今[天日晚早朝夜晩]|きょう|오늘",
}
_STEPS = {
    "last": ("上|先", "上个|上個|先", "去|昨", "지난|저번"),
    "this": ("这|這|本|今", "这个|這個|本|今", "今|本", "이번"),
    "next": ("下|来|來", "下个|下個|来|來", "明|来|來", "다음"),
}
"""Before a week, a month and a year in Chinese and Japanese, and before any of them in Korean."""
_KOREAN_YEARS = {"last year": "작년|지난해", "this year": "올해", "next year": "내년"}


def from_ideographs(text: str) -> str:
    """The text with full-width forms narrowed, and the time words of these scripts in English."""
    text = normalized("NFKC", text)
    if _ANY.search(text) is None:
        return text
    for pattern, said in _rules():
        text = pattern.sub(said, text)
    return text


_Match = re.Match[str]


def _number(digits: str) -> int:
    if digits.isdecimal() or digits in _KOREAN:
        return _KOREAN.get(digits) or int(digits)
    tens, ten, ones = digits.rpartition("十")
    return (_ONES.get(tens, 1) * 10 if ten else 0) + _ONES.get(ones, 0)


def _date(match: _Match) -> str:
    parts = match.groupdict()
    month = _number(parts["month"])
    name = MONTHS[month - 1] if 1 <= month <= len(MONTHS) else ""
    day = str(_number(parts["day"])) if parts.get("day") else ""
    year = parts.get("year") or ""
    return f" {day} {name} {year} ".replace("  ", " ") if day or year else f" in {name} "


def _counted(ending: str, beginning: str = "") -> Callable[[_Match], str]:
    def said(match: _Match) -> str:
        unit = next(unit for unit, words in _UNITS.items() if words.fullmatch(match["unit"]))
        return f" {beginning}{_number(match['count'])} {unit} {ending} "

    return said


def _weekday(which: str) -> Callable[[_Match], str]:
    return lambda match: f" {which} {_DAYS[match['weekday']]} "


def _quarter(match: _Match) -> str:
    return f" q{_number(match['count'])} {match['year'] or ''} "


@cache
def _rules() -> list[tuple[re.Pattern[str], str | Callable[[_Match], str]]]:
    rules: dict[str, str | Callable[[_Match], str]] = {
        rf"{_Y}{_M}{_D}": _date,
        rf"{_Y}第?(?P<count>[1-4一二三四])\s*(?:季度|四半期|분기)": _quarter,
        rf"{_Y}{_M}": _date,
        rf"{_M}{_D}": _date,
        rf"(?<!\d){_M}(?![曜前后後份]|요일)": _date,
        rf"{_M}份": _date,
        r"((?:19|20)\d\d)\s*[年년]": r" \1 ",
        **{words: f" {said} " for said, words in _NEAR.items()},
        **{words: f" {said} " for said, words in _KOREAN_YEARS.items()},
        rf"(?:最近|过去|過去|近|지난|최근|この){_N}{_UNIT}": _counted("", "last "),
        rf"{_N}{_UNIT}\s*(?:之前|以前|前|전)": _counted("ago"),
        rf"{_N}{_UNIT}\s*(?:之后|之後|以后|以後|后|後|후|뒤)": _counted("from now"),
        "일주일 전": " one week ago ",
    }
    for step, (week, month, year, korean) in _STEPS.items():
        rules |= {
            rf"(?:{week}){_WEEK}(?P<weekday>[一二三四五六日天])(?![周週])": _weekday(f"{step} week"),
            rf"(?:{week})週の?(?P<weekday>[月火水木金土日])曜日?": _weekday(f"{step} week"),
            rf"(?:{korean})\s*주\s*(?P<weekday>[월화수목금토일])요일": _weekday(f"{step} week"),
            rf"(?:{korean})\s*(?P<weekday>[월화수목금토일])요일": _weekday(step),
            rf"(?:{week})(?:{_WEEK}末|週末)|(?:{korean})\s*주말": f" {step} weekend ",
            rf"(?:{week}){_WEEK}|(?:{korean})\s*주": f" {step} week ",
            rf"(?:{month})月|(?:{korean})\s*달": f" {step} month ",
            rf"(?:{year})年|(?:{korean})\s*해": f" {step} year ",
        }
    rules |= {
        r"(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])": _weekday("on"),
        r"(?P<weekday>[月火水木金土日])曜": _weekday("on"),
        r"(?P<weekday>[월화수목금토일])요일": _weekday("on"),
        "什么时候|什麼時候|何时|何時|いつ|언제|几月|几号": " when ",
        "最新|目前|現在の|现在|현재|지금": " latest ",
    }
    return [(re.compile(pattern), said) for pattern, said in rules.items()]
