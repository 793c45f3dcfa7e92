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
        "lexical": (0.9665, 1.2461, 1.1985),
        "window": (2.7612, -0.5115, -0.7443),
        "window_cover": (2.0233, -1.1475, -0.4266),
        "session_words": (0.9988, -0.7426, -0.1388),
        "dense": (0.0000, 0.0000, 0.0000),
        "cosine": (0.0000, 0.0000, 0.0000),
        "soft": (0.0000, 0.0000, 0.0000),
        "before": (-0.8241, 0.2132, 0.2344),
        "after": (-0.3992, 0.9901, 0.7435),
        "two_away": (0.4202, -0.6646, 0.1116),
        "answers": (2.1283, -1.9065, -0.2391),
        "session_best": (1.4148, -0.2254, 0.5412),
        "speaker_named": (2.0438, 0.0260, 0.0000),
        "user": (0.8478, 0.0510, 0.4248),
        "assistant": (-0.7143, -0.1344, -0.3608),
        "user_asks_of_self": (0.0680, -0.3367, 0.0303),
        "assistant_asked_of_self": (-0.0492, 0.2435, -0.0219),
        "assistant_asked_about": (1.3911, 0.0727, 0.6886),
        "on_day": (5.7256, -2.0720, -2.7393),
        "in_month": (4.7499, -1.9309, -2.0555),
        "in_year": (1.6744, -0.5890, -0.6996),
        "soon_after": (5.7914, -2.6004, -3.4443),
        "tells_when": (2.0636, -0.3647, -0.2237),
        "tells_amount": (0.6922, -0.1675, 0.3562),
        "tells_name": (0.3031, -0.3644, -0.1981),
        "is_question": (-1.0824, 0.1638, 0.1543),
        "asks": (-0.1127, 0.1188, -0.0696),
        "prefers": (0.0505, -0.0100, 0.2708),
        "stated": (3.5394, -0.6000, -1.0297),
        "brief": (2.0700, 0.3252, 0.9973),
        "size": (-0.2645, -3.2442, -3.3975),
        "over_60": (0.6202, 0.2574, -0.0084),
    },
    scale=0.4491,
    shift=-7.3819,
)

STATIC = Learned(
    weights={
        "lexical": (-1.0071, 1.2309, 1.4014),
        "window": (2.0180, -0.1344, -0.2557),
        "window_cover": (1.3841, -1.3075, -0.6618),
        "session_words": (0.6751, -0.5239, -0.0118),
        "dense": (0.8524, 0.0569, -0.2887),
        "cosine": (2.1144, 0.8601, 0.4031),
        "soft": (2.2673, -0.3987, -0.6364),
        "before": (-0.6319, 0.0250, 0.4449),
        "after": (-0.1070, 0.8035, 0.7316),
        "two_away": (0.4912, -0.6383, 0.0554),
        "answers": (2.2866, -1.9334, -0.5336),
        "session_best": (2.7843, -0.6027, 0.2915),
        "speaker_named": (1.9849, 0.0252, 0.0000),
        "user": (0.6180, -0.0092, 0.3114),
        "assistant": (-0.8974, -0.2599, -0.4505),
        "user_asks_of_self": (-0.3084, -0.4921, -0.1501),
        "assistant_asked_of_self": (-0.4576, 0.0362, -0.2314),
        "assistant_asked_about": (1.4565, -0.1955, 0.6940),
        "on_day": (6.0646, -2.4172, -2.8972),
        "in_month": (4.5176, -1.6711, -1.9251),
        "in_year": (1.6557, -0.7840, -0.9702),
        "soon_after": (5.2936, -1.7952, -3.0490),
        "tells_when": (1.9923, -0.3687, -0.3324),
        "tells_amount": (0.5352, -0.0677, 0.3838),
        "tells_name": (0.3465, -0.3378, -0.2082),
        "is_question": (-1.1557, 0.1804, 0.1249),
        "asks": (-0.0870, 0.0736, -0.0447),
        "prefers": (0.0697, -0.0331, 0.2112),
        "stated": (3.7739, 0.0928, 0.0938),
        "brief": (2.5335, 0.1955, 0.7264),
        "size": (-0.9212, -2.8983, -3.4796),
        "over_60": (0.6219, 0.2849, -0.0506),
    },
    scale=0.4444,
    shift=-7.8405,
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
        "stated": (0.0000, 0.0000, 0.0000),
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
        "stated": (0.0000, 0.0000, 0.0000),
        "brief": (2.1797, 0.1983, 1.2551),
        "size": (-0.9344, -3.1209, -3.5448),
        "over_60": (1.2263, 0.5461, -0.2874),
    },
    scale=0.5381,
    shift=-8.3602,
)
