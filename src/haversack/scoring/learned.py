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
        "lexical": (-1.0923, 0.5879, 1.9830),
        "window": (1.6937, 0.1428, -0.9278),
        "window_cover": (1.4176, -0.6499, -0.9850),
        "session_words": (0.6872, -0.2700, -0.3533),
        "dense": (1.3707, -0.5009, 0.8410),
        "cosine": (1.5790, 0.0168, 1.1772),
        "soft": (2.6582, -0.4058, -1.4452),
        "before": (-0.4781, 0.0643, 0.4708),
        "after": (0.1919, 1.1495, -0.0913),
        "two_away": (0.6142, -0.1363, -0.5838),
        "answers": (2.2104, 0.0559, -1.9730),
        "session_best": (2.9192, 0.1708, -0.6157),
        "speaker_named": (1.7588, 0.0225, 0.0000),
        "user": (0.7018, 0.3130, 0.3605),
        "assistant": (-0.6916, -0.3084, -0.3552),
        "user_asks_of_self": (-0.0709, -0.0404, -0.0389),
        "assistant_asked_of_self": (0.0700, 0.0399, 0.0384),
        "assistant_asked_about": (1.0742, 0.2672, 0.5558),
        "on_day": (5.1257, -0.4387, -3.1097),
        "in_month": (3.6133, -0.8292, -2.3018),
        "in_year": (0.4538, -0.7759, -1.5884),
        "soon_after": (4.1799, -0.1217, -4.3624),
        "tells_when": (1.8953, 0.1870, -1.2096),
        "tells_amount": (0.6265, -0.0177, 0.2898),
        "tells_name": (0.4297, -0.1606, -0.3991),
        "is_question": (-1.1254, -0.1190, 0.1205),
        "asks": (-0.0259, 0.0347, 0.0274),
        "prefers": (0.0545, -0.0748, 0.2487),
        "brief": (2.2494, 0.1531, 0.1981),
        "size": (-1.0048, -1.7333, -5.8193),
        "over_60": (0.7369, 0.7833, -0.0684),
    },
    scale=0.2907,
    shift=-6.9558,
)
