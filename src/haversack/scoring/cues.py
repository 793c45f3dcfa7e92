"""Cues in the wording of texts and queries, cheap and bound to English. Pure; `words` are a text's folded words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

__all__ = [
    "asks_about_assistant",
    "asks_for_a_piece_of_work",
    "asks_for_name",
    "asks_for_number",
    "asks_in_first_person",
    "mentions_name",
    "mentions_number",
    "mentions_time",
    "says_little",
    "states_preference",
]

_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten twice once first second third".split()  # noqa: SIM905
)
_TIMES = frozenset(
    """yesterday today tonight tomorrow ago last next recently soon since weekend day days week weeks month months year
    years hours monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december summer winter spring autumn""".split()  # noqa: SIM905
)
_PREFERENCES = frozenset(
    """always never whenever prefer prefers preferred preference preferences rather favourite
    favorite""".split()  # noqa: SIM905
)
_WISHES = frozenset(("like", "want", "need", "love", "hate"))
_LITTLE = frozenset(
    """a about again agree also am an and another any anything are as at be because been but by can continue could
    details did do does doing done each elaborate else etc everything example examples explain expand fine for from
    further go going good got great had has have he hello help her here hers hey hi him his how i if in into is it its
    just know let like list many matter me mean meant mine more most much my myself no not now of off ok okay old on
    once one ones or other others our out please point question really right same say see she show so some something
    sorry start still stop such summarise summarize sure tell than thank thanks that the their them then there these
    they thing things think this those to too try two understand up us use very want was we well were what when where
    whether which who whom whose why will with would wrong yes yet you your yours
    aber als auch auf bedeutet bitte da danke das dann den der die doch du ein eine er es genau ich in ist ja kannst
    mehr mit nein nicht noch nochmal oder sie so und uns warum was weiter wann wer weshalb wie wieso wir wo
    ainsi alors aussi avec ca ce cela ces comment continue dans de des donc elle encore est et il je la le
    les mais merci non nous ou oui plus pour pourquoi quand que quel quelle qui quoi sur tu un une vous
    algo como con cual cuando de del donde el ella en entonces es eso esto gracias la las lo los mas muy no o otra
    otro para pero por porque que quien si sigue sin su un una y ya yo
    allora anche ancora che chi come con cosa cosi di dove e grazie il io lei lo lui ma no non o perche piu poi qual
    quando questo se si un una
    ainda com como e ela ele isso mais mas nao o obrigado obrigada onde ou para porque qual quando quem sim um uma
    dan dat de deze een en er ga geen hij hoe ik ja je maar meer met nee niet nog of te van waarom waar wat we welke wie
    zij ze
    ali bu da daha evet hangi hayir ile kim ne neden nerede nasil niye peki ve ya
    allt den det du en ett fler hur ja jag med men mer nej och om som tack vad var varfor vem vi
    ale co czy dlaczego do gdzie i jak kiedy kto nie o po tak to w z
    apa bagaimana dan di ini itu kapan kenapa lagi mana mengapa siapa tidak ya yang""".split()  # noqa: SIM905
)
"""Words of eleven languages that say nothing of what a question is about."""
_DIGIT = re.compile(r"[0-9]")
_CLOCK = re.compile(r"\b(?:19|20)\d\d\b|\d ?[ap]m\b", re.IGNORECASE)
_NAME = re.compile(r"[a-z,;:] [A-Z][a-z]")
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|long|often|old)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:where|who|which|what)\b", re.IGNORECASE)
_WORK = re.compile(
    r"^\W*(?:(?:please|can you|could you) )?(?:calculate|compose|compute|convert|count|draft|draw|flip|generate|give me"
    r"|imagine|invent|make|multiply|pick|pretend|proofread|prove|rephrase|rewrite|rhyme|roll|simplify|solve|sort|spell"
    r"|tell me an?|translate|turn|write)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_ASSISTANT = re.compile(
    r"\b(?:did you|you (?:recommend|suggest|advise|provide|mention|give|gave|say|said|explain|outline)\w*"
    r"|your (?:recommendation|advice|suggestion|explanation))",
    re.IGNORECASE,
)


def mentions_number(text: str, words: AbstractSet[str]) -> bool:
    """Whether a number stands in the text, in digits or as a small numeral."""
    return not words.isdisjoint(_NUMBERS) or _DIGIT.search(text) is not None


def mentions_name(text: str) -> bool:
    """Whether a capitalised word stands inside a sentence."""
    return _NAME.search(text) is not None


def mentions_time(text: str, words: AbstractSet[str]) -> bool:
    """Whether the text says when something is."""
    return not words.isdisjoint(_TIMES) or _CLOCK.search(text) is not None


def asks_for_a_piece_of_work(query: str) -> bool:
    """Whether something is to be made, for which nothing need be remembered."""
    return _WORK.search(query) is not None


def says_little(words: Iterable[str]) -> bool:
    """Whether a question of these words says nothing of what it is about, as a follow-up does."""
    return all(_bare(word) in _LITTLE for word in words)


def _bare(word: str) -> str:
    """The word without a short form behind it, and without marks on its letters."""
    plain = unicodedata.normalize("NFD", word.replace("\u2019", "'").partition("'")[0])
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def states_preference(words: AbstractSet[str]) -> bool:
    """Whether a text of these words states a preference, a habit or a standing wish."""
    return not words.isdisjoint(_PREFERENCES) or ("i" in words and not words.isdisjoint(_WISHES))


def asks_for_number(query: str) -> bool:
    """Whether the answer is an amount."""
    return _ASKS_NUMBER.search(query) is not None


def asks_for_name(query: str) -> bool:
    """Whether the answer may be a person, a place or a thing."""
    return _ASKS_NAME.search(query) is not None


def asks_in_first_person(query: str) -> bool:
    """Whether the asker speaks of themselves."""
    return _FIRST_PERSON.search(query) is not None


def asks_about_assistant(query: str) -> bool:
    """Whether the query is about what the assistant said."""
    return _ASSISTANT.search(query) is not None
