"""Verdict codes in plain words."""

from __future__ import annotations

__all__ = ["in_words"]

_WORDS = {
    "fits": "It fits.",
    "pinned": "It is pinned, so it enters first.",
    "shortened_to_fit": "Only a shorter form of it fits.",
    "no_room": "What was left of the budget is smaller than it.",
    "section_full": "Its section has its largest number of items.",
    "section_maximum": "Its section has its largest share of the budget.",
    "section_off": "Its section has weight 0.",
    "no_section": "No section of this layout takes its kind.",
    "duplicate": "The same words stand in the context already.",
    "recount": "The final count of the whole was above the sum of the parts.",
    "in_history": "The conversation in the prompt holds it already.",
    "redundant_summary": "The turns that it sums up stand in the prompt.",
    "little_evidence": "It is not worth its tokens: the next 1,000 would add too little to what stands before it.",
    "below_floor": "It hardly answers the question: its relevance is below the least that is asked for.",
    "not_primed": "It does not answer, and priming has no room for it.",
    "irrelevant": "It shares no word with the question.",
    "stands_already": "An earlier part of the prompt shows it.",
    "deleted": "It is softly forgotten.",
    "superseded": "A newer memory took its place.",
    "expired": "It has expired.",
    "not_yet_valid": "It does not hold yet.",
    "no_longer_valid": "It does not hold any more.",
    "instructions": "It looks like orders to a model.",
    "secrets": "It looks like a secret.",
    "picture_left_out": "Its picture was left out.",
    "orphan_result": "A tool result whose call is not there.",
    "unanswered_call": "A tool call without its result.",
    "not_a_start": "A conversation has to begin with the user's words.",
    "no_complete_turn": "It ends in the middle of a turn.",
    "stable_prefix": "This layout shows no other sessions.",
    "prior_session": "Other sessions' turns are the first to leave.",
}


def in_words(code: str) -> str:
    """What a code means; a code without words stands for itself."""
    return _WORDS.get(code, code.replace("_", " "))
