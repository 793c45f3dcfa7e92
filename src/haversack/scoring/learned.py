"""Learned weights, as plain numbers. Written by `bench/recall/train.py`; not to be edited by hand."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LATE", "LEXICAL", "SENTENCE", "STATIC", "Learned"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # one is itself alone: what follows from it is kept
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
        "lexical": (1.0712, 1.1762, 1.2188),
        "window": (2.6088, -0.4648, -0.7766),
        "window_cover": (2.0306, -1.1304, -0.4025),
        "session_words": (1.0099, -0.7420, -0.1243),
        "dense": (0.0000, 0.0000, 0.0000),
        "cosine": (0.0000, 0.0000, 0.0000),
        "soft": (0.0000, 0.0000, 0.0000),
        "late": (0.0000, 0.0000, 0.0000),
        "late_window": (0.0000, 0.0000, 0.0000),
        "before": (-0.7787, 0.2690, 0.2503),
        "after": (-0.3167, 0.9721, 0.7336),
        "two_away": (0.4516, -0.6976, 0.1193),
        "answers": (2.1812, -2.0384, -0.2637),
        "session_best": (1.4833, -0.3142, 0.5339),
        "speaker_named": (2.0676, 0.0253, 0.0000),
        "user": (0.8672, 0.0556, 0.4358),
        "assistant": (-0.7147, -0.1328, -0.3637),
        "user_asks_of_self": (0.0622, -0.3441, 0.0266),
        "assistant_asked_of_self": (-0.0450, 0.2491, -0.0192),
        "assistant_asked_about": (1.4221, 0.0134, 0.7089),
        "on_day": (5.7796, -2.1162, -2.7616),
        "in_month": (4.7634, -1.9339, -2.0442),
        "in_year": (1.7749, -0.6454, -0.7616),
        "soon_after": (5.7835, -2.2574, -3.1087),
        "tells_when": (2.0757, -0.4120, -0.2412),
        "tells_amount": (0.6962, -0.1657, 0.3712),
        "tells_name": (0.3583, -0.3864, -0.2329),
        "is_question": (-1.0751, 0.1383, 0.1406),
        "asks": (-0.1170, 0.1318, -0.0598),
        "prefers": (0.0487, -0.0196, 0.2707),
        "stated": (4.5097, -1.3992, -1.8074),
        "stated_words": (-2.1209, 1.6262, 1.2646),
        "stated_meaning": (0.0000, 0.0000, 0.0000),
        "stated_soft": (0.0000, 0.0000, 0.0000),
        "brief": (1.9851, 0.3441, 1.1034),
        "size": (-0.1530, -3.3531, -3.5179),
        "over_60": (0.6478, 0.2887, -0.0077),
    },
    scale=0.4423,
    shift=-7.3728,
)

STATIC = Learned(
    weights={
        "lexical": (-1.0294, 1.3815, 1.4707),
        "window": (2.1458, -0.3035, -0.4230),
        "window_cover": (1.2786, -1.1509, -0.5326),
        "session_words": (0.6891, -0.4824, 0.0340),
        "dense": (0.6984, 0.0092, -0.3611),
        "cosine": (2.1392, 0.9440, 0.5279),
        "soft": (2.3245, -0.5231, -0.6683),
        "late": (0.0000, 0.0000, 0.0000),
        "late_window": (0.0000, 0.0000, 0.0000),
        "before": (-0.6927, 0.1665, 0.4910),
        "after": (-0.2019, 0.9213, 0.7905),
        "two_away": (0.4604, -0.5995, 0.0757),
        "answers": (2.2597, -1.8503, -0.5158),
        "session_best": (2.7099, -0.6029, 0.2970),
        "speaker_named": (2.0174, 0.0251, 0.0000),
        "user": (0.8070, 0.0781, 0.4055),
        "assistant": (-0.7389, -0.1779, -0.3737),
        "user_asks_of_self": (-0.0780, -0.3838, -0.0384),
        "assistant_asked_of_self": (-0.2058, 0.1673, -0.1056),
        "assistant_asked_about": (1.5024, -0.2291, 0.7191),
        "on_day": (6.0339, -2.4249, -2.8910),
        "in_month": (4.4662, -1.6152, -1.8796),
        "in_year": (1.6763, -0.8054, -0.9799),
        "soon_after": (5.2232, -1.7422, -3.0731),
        "tells_when": (1.9853, -0.4303, -0.3480),
        "tells_amount": (0.5627, -0.0860, 0.3837),
        "tells_name": (0.3582, -0.3416, -0.2128),
        "is_question": (-1.1467, 0.1686, 0.1147),
        "asks": (-0.0888, 0.0764, -0.0425),
        "prefers": (0.0585, -0.0300, 0.2226),
        "stated": (2.6287, 0.5444, 0.7048),
        "stated_words": (-2.2306, -0.8535, -0.8589),
        "stated_meaning": (3.5743, -0.7846, -0.3653),
        "stated_soft": (-0.9697, 1.0607, 1.2968),
        "brief": (2.5362, 0.1960, 0.8046),
        "size": (-0.8612, -2.9840, -3.5753),
        "over_60": (0.5978, 0.3556, 0.0035),
    },
    scale=0.4827,
    shift=-8.1323,
)

SENTENCE = Learned(
    weights={
        "lexical": (-0.8114, 1.4934, 0.8103),
        "window": (1.7956, -0.2812, -0.6312),
        "window_cover": (1.4327, -1.0557, -0.3610),
        "session_words": (0.6224, -0.4442, -0.1151),
        "dense": (1.6534, 0.1515, 0.4112),
        "cosine": (1.5223, 0.3762, 0.4014),
        "soft": (2.3750, -0.6442, -0.9531),
        "before": (-0.4076, 0.5323, 0.0074),
        "after": (0.0274, 0.8689, 0.2520),
        "two_away": (0.5204, -0.6629, -0.1305),
        "answers": (2.2039, -1.6308, -0.5127),
        "session_best": (3.1932, -0.3376, -0.0015),
        "speaker_named": (1.7608, 0.0218, 0.0000),
        "user": (0.8054, 0.1001, 0.4071),
        "assistant": (-0.7830, -0.0973, -0.3958),
        "user_asks_of_self": (0.1067, -0.2248, 0.0495),
        "assistant_asked_of_self": (-0.1037, 0.2185, -0.0481),
        "assistant_asked_about": (1.1682, 0.1020, 0.5979),
        "on_day": (5.7838, -1.1778, -1.7436),
        "in_month": (4.0542, -0.6024, -0.9669),
        "in_year": (1.0683, -0.9309, -0.9508),
        "soon_after": (4.6869, -1.4156, -3.7761),
        "tells_when": (2.0141, -0.5471, -0.4217),
        "tells_amount": (0.5443, -0.0865, 0.3252),
        "tells_name": (0.4133, -0.3632, -0.2283),
        "is_question": (-1.1447, 0.2050, 0.0129),
        "asks": (-0.0063, 0.1247, -0.1020),
        "prefers": (0.0331, -0.0229, 0.2196),
        "brief": (2.2814, 0.2011, 1.1441),
        "size": (-0.1848, -3.1218, -3.7495),
        "over_60": (0.7510, 0.5092, -0.2493),
    },
    scale=0.5092,
    shift=-8.8026,
)

LATE = Learned(
    weights={
        "lexical": (-0.6314, 0.9558, 0.7436),
        "window": (0.8944, 0.3043, -0.5150),
        "window_cover": (1.0543, -0.6674, -0.3350),
        "session_words": (0.6786, -0.3922, -0.1006),
        "dense": (0.9290, 0.0631, 0.2095),
        "cosine": (1.1453, 0.2839, 0.3621),
        "soft": (1.4983, -0.2935, -0.6124),
        "late": (0.4155, -0.3399, 0.2117),
        "late_window": (2.7018, -0.5284, -0.7051),
        "before": (-0.6992, 0.4075, 0.1163),
        "after": (-0.3425, 0.7708, 0.3839),
        "two_away": (0.2459, -0.5669, -0.0116),
        "answers": (2.1100, -1.5860, -0.4259),
        "session_best": (2.5757, -0.0835, 0.1668),
        "speaker_named": (1.8232, 0.0222, 0.0000),
        "user": (0.7953, 0.1316, 0.4058),
        "assistant": (-0.7732, -0.1280, -0.3945),
        "user_asks_of_self": (0.1077, -0.1919, 0.0496),
        "assistant_asked_of_self": (-0.1048, 0.1866, -0.0482),
        "assistant_asked_about": (1.1595, 0.1277, 0.6020),
        "on_day": (5.7983, -2.0150, -2.5592),
        "in_month": (4.2072, -1.3143, -1.4590),
        "in_year": (1.3673, -0.5579, -0.7091),
        "soon_after": (4.9301, -1.5241, -3.0039),
        "tells_when": (1.9195, -0.5088, -0.3959),
        "tells_amount": (0.5946, -0.0727, 0.3195),
        "tells_name": (0.3847, -0.3762, -0.1991),
        "is_question": (-1.1065, 0.2163, 0.0030),
        "asks": (-0.0341, 0.1354, -0.0644),
        "prefers": (0.0514, -0.0232, 0.2145),
        "brief": (2.1797, 0.1983, 1.2551),
        "size": (-0.9344, -3.1209, -3.5448),
        "over_60": (1.2263, 0.5461, -0.2874),
    },
    scale=0.5381,
    shift=-8.3602,
)
