"""Learned weights, as plain numbers. Written by `bench/recall/train.py`; not to be edited by hand."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEXICAL", "SENTENCE", "STATIC", "Learned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Log-odds per feature, linear in the traits of the namespace."""

    weights: dict[str, tuple[float, float, float]]
    """By feature name: base, slope over the trait `length`, slope over the trait `roles`."""
    scale: float
    """Turns the weighted sum into log-odds of use …"""
    shift: float
    """… together with this."""


# numbers follow
LEXICAL = Learned(
    weights={
        "lexical": (1.8206, 1.6103, 0.0),
        "window": (1.7609, -0.7044, 0.0),
        "window_cover": (2.1651, -1.0735, 0.0),
        "session_words": (1.0080, -0.7032, 0.0),
        "dense": (0.0000, 0.0000, 0.0),
        "cosine": (0.0000, 0.0000, 0.0),
        "soft": (0.0000, 0.0000, 0.0),
        "before": (-0.6092, 0.6896, 0.0),
        "after": (-0.0379, 1.2809, 0.0),
        "two_away": (0.4910, -0.5859, 0.0),
        "answers": (1.9879, -1.7762, 0.0),
        "session_best": (1.6917, -0.0789, 0.0),
        "speaker_named": (1.9530, 0.0298, 0.0),
        "user": (1.0425, 0.1225, 0.0),
        "assistant": (-1.0777, -0.1266, 0.0),
        "user_asks_of_self": (0.2470, -0.2766, 0.0),
        "assistant_asked_of_self": (-0.2564, 0.2871, 0.0),
        "assistant_asked_about": (1.6067, 0.5504, 0.0),
        "on_day": (5.1038, -0.3688, 0.0),
        "in_month": (4.1369, -0.2544, 0.0),
        "in_year": (0.7452, -0.9333, 0.0),
        "soon_after": (4.3030, -2.5192, 0.0),
        "tells_when": (1.8724, -0.4106, 0.0),
        "tells_amount": (0.9347, -0.2130, 0.0),
        "tells_name": (0.2076, -0.5353, 0.0),
        "is_question": (-0.9512, 0.3057, 0.0),
        "asks": (-0.1149, 0.1261, 0.0),
        "prefers": (0.1888, 0.0609, 0.0),
        "brief": (2.9204, 0.5357, 0.0),
        "size": (-1.6616, -4.1864, 0.0),
        "over_60": (0.6735, 0.2025, 0.0),
    },
    scale=0.5108,
    shift=-7.8157,
)

STATIC = Learned(
    weights={
        "lexical": (-0.3589, 1.7355, 0.0),
        "window": (1.6972, -0.4295, 0.0),
        "window_cover": (1.5674, -1.1647, 0.0),
        "session_words": (0.6848, -0.3431, 0.0),
        "dense": (0.7058, 0.8799, 0.0),
        "cosine": (1.2827, 1.0674, 0.0),
        "soft": (2.2023, -0.7599, 0.0),
        "before": (-0.4438, 0.7360, 0.0),
        "after": (0.0729, 1.1491, 0.0),
        "two_away": (0.4749, -0.6791, 0.0),
        "answers": (1.8735, -2.1037, 0.0),
        "session_best": (2.9910, -0.2442, 0.0),
        "speaker_named": (1.8157, 0.0284, 0.0),
        "user": (0.9680, 0.1490, 0.0),
        "assistant": (-1.0496, -0.1615, 0.0),
        "user_asks_of_self": (0.2480, -0.1999, 0.0),
        "assistant_asked_of_self": (-0.2805, 0.2261, 0.0),
        "assistant_asked_about": (1.5100, 0.3582, 0.0),
        "on_day": (4.9370, -0.5899, 0.0),
        "in_month": (3.7531, -0.2653, 0.0),
        "in_year": (0.5975, -1.1178, 0.0),
        "soon_after": (3.4376, -2.0041, 0.0),
        "tells_when": (1.7958, -0.4273, 0.0),
        "tells_amount": (0.8287, -0.1601, 0.0),
        "tells_name": (0.2426, -0.5018, 0.0),
        "is_question": (-1.0112, 0.3198, 0.0),
        "asks": (-0.0999, 0.1279, 0.0),
        "prefers": (0.1854, -0.0131, 0.0),
        "brief": (3.4690, 0.6688, 0.0),
        "size": (-2.8574, -3.8275, 0.0),
        "over_60": (0.6229, 0.3353, 0.0),
    },
    scale=0.6279,
    shift=-9.4281,
)

SENTENCE = Learned(
    weights={
        "lexical": (-0.2086, 1.4583, 0.0),
        "window": (1.2048, -0.3675, 0.0),
        "window_cover": (1.7777, -1.7943, 0.0),
        "session_words": (0.7215, -0.6492, 0.0),
        "dense": (1.8644, 0.1330, 0.0),
        "cosine": (1.6369, 0.8959, 0.0),
        "soft": (1.8198, -0.9735, 0.0),
        "before": (-0.2667, 0.2383, 0.0),
        "after": (0.2224, 1.0082, 0.0),
        "two_away": (0.4284, -0.5948, 0.0),
        "answers": (1.6797, -1.7160, 0.0),
        "session_best": (2.7149, -0.3379, 0.0),
        "speaker_named": (1.7216, 0.0248, 0.0),
        "user": (0.8635, 0.3690, 0.0),
        "assistant": (-0.8558, -0.3658, 0.0),
        "user_asks_of_self": (-0.0169, -0.0316, 0.0),
        "assistant_asked_of_self": (0.0167, 0.0313, 0.0),
        "assistant_asked_about": (1.3989, 0.4663, 0.0),
        "on_day": (4.3588, -2.4327, 0.0),
        "in_month": (3.2556, -1.9621, 0.0),
        "in_year": (-0.1802, -1.2480, 0.0),
        "soon_after": (2.7377, -3.2852, 0.0),
        "tells_when": (1.6143, -0.6638, 0.0),
        "tells_amount": (0.6924, 0.0634, 0.0),
        "tells_name": (0.2802, -0.4705, 0.0),
        "is_question": (-1.0272, 0.1506, 0.0),
        "asks": (-0.0658, 0.0529, 0.0),
        "prefers": (0.2882, -0.0297, 0.0),
        "brief": (3.7203, 0.0656, 0.0),
        "size": (-2.1350, -4.5363, 0.0),
        "over_60": (0.1427, 0.7156, 0.0),
    },
    scale=0.4526,
    shift=-8.4211,
)
