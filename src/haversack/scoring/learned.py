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
        "lexical": (1.5861, 1.5485, 0.5706),
        "window": (2.0020, -0.5831, -0.5071),
        "window_cover": (2.0794, -1.1418, 0.0170),
        "session_words": (1.0605, -0.7049, -0.1359),
        "dense": (0.0000, 0.0000, 0.0000),
        "cosine": (0.0000, 0.0000, 0.0000),
        "soft": (0.0000, 0.0000, 0.0000),
        "before": (-0.4195, 0.7246, -0.2565),
        "after": (-0.0826, 1.1254, 0.1570),
        "two_away": (0.5834, -0.5604, -0.1256),
        "answers": (2.1932, -1.7245, -0.4043),
        "session_best": (1.5719, -0.0891, 0.2596),
        "speaker_named": (1.9636, 0.0288, 0.0000),
        "user": (0.7716, 0.0191, 0.3926),
        "assistant": (-0.7976, -0.0198, -0.4058),
        "user_asks_of_self": (0.1099, -0.2913, 0.0505),
        "assistant_asked_of_self": (-0.1141, 0.3023, -0.0524),
        "assistant_asked_about": (1.2294, 0.3056, 0.6343),
        "on_day": (5.7696, -0.7167, -1.4448),
        "in_month": (4.5190, -0.4137, -0.9445),
        "in_year": (1.2841, -0.8123, -0.8279),
        "soon_after": (5.5217, -2.0087, -3.9977),
        "tells_when": (2.0118, -0.3778, -0.2722),
        "tells_amount": (0.7040, -0.2701, 0.4148),
        "tells_name": (0.3296, -0.4323, -0.1880),
        "is_question": (-1.0300, 0.1765, 0.1139),
        "asks": (-0.0521, 0.1257, -0.1150),
        "prefers": (0.0297, -0.0211, 0.2649),
        "brief": (2.0578, 0.2664, 1.2882),
        "size": (0.0821, -3.4184, -3.1945),
        "over_60": (0.8089, 0.4271, -0.4177),
    },
    scale=0.4859,
    shift=-7.7796,
)

STATIC = Learned(
    weights={
        "lexical": (-1.2330, 1.8091, 1.1211),
        "window": (1.7424, -0.2457, -0.4248),
        "window_cover": (1.4347, -1.1219, -0.1737),
        "session_words": (0.7540, -0.4288, -0.0471),
        "dense": (0.8415, 0.2425, -0.1970),
        "cosine": (1.8117, 0.5834, 0.5590),
        "soft": (2.8265, -0.7293, -0.7847),
        "before": (-0.3716, 0.5863, 0.0253),
        "after": (-0.0845, 0.9385, 0.3443),
        "two_away": (0.5150, -0.6364, -0.0398),
        "answers": (2.1781, -1.7040, -0.5368),
        "session_best": (2.6824, -0.2407, 0.1034),
        "speaker_named": (1.8767, 0.0283, 0.0000),
        "user": (0.7580, 0.0609, 0.3947),
        "assistant": (-0.7824, -0.0629, -0.4074),
        "user_asks_of_self": (0.1174, -0.2575, 0.0531),
        "assistant_asked_of_self": (-0.1220, 0.2677, -0.0552),
        "assistant_asked_about": (1.1709, 0.2242, 0.6210),
        "on_day": (5.9568, -1.1263, -1.6441),
        "in_month": (4.1403, -0.3817, -0.8555),
        "in_year": (1.2765, -0.8878, -0.9522),
        "soon_after": (4.9237, -1.5524, -3.7180),
        "tells_when": (1.9243, -0.4908, -0.3951),
        "tells_amount": (0.5661, -0.1850, 0.4237),
        "tells_name": (0.3344, -0.3882, -0.1761),
        "is_question": (-1.0987, 0.2088, 0.0724),
        "asks": (-0.0632, 0.0946, -0.0844),
        "prefers": (0.0563, -0.0610, 0.2301),
        "brief": (2.7288, 0.2625, 1.1913),
        "size": (-0.9271, -3.0326, -3.3052),
        "over_60": (0.7021, 0.5306, -0.3741),
    },
    scale=0.5611,
    shift=-8.8175,
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
