"""Units: the symbol of each name, and what a symbol is worth in the unit without a prefix. Pure."""

from __future__ import annotations

from itertools import product

__all__ = ["SYMBOLS", "WORTH", "symbol_of"]

_POWERS = {
    "pico": ("p", -12), "nano": ("n", -9), "micro": ("\u03bc", -6), "milli": ("m", -3), "centi": ("c", -2),
    "hecto": ("h", 2), "kilo": ("k", 3), "mega": ("M", 6), "giga": ("G", 9), "tera": ("T", 12), "": ("", 0),
}  # fmt: skip
_NAMES = {
    "m": "metre meter", "g": "gram gramme", "l": "litre liter", "W": "watt", "V": "volt", "A": "amp ampere",
    "\u03a9": "ohm", "F": "farad", "Hz": "hertz", "B": "byte", "bit": "bit", "J": "joule", "Pa": "pascal",
    "N": "newton", "s": "second", "bar": "bar", "cal": "calorie", "Wh": "watthour", "H": "henry",
}  # fmt: skip
_OTHERS = {
    "h": "hour hours hr hrs", "min": "minute minutes mins", "s": "sec secs", "in": "inch inches", "ft": "foot feet",
    "mi": "mile miles", "lb": "pound pounds lbs", "oz": "ounce ounces", "t": "tonne tonnes ton tons",
    "\u03bcg": "mcg ug", "\u03bcs": "us usec", "\u03bcm": "um", "ms": "msec", "kmh": "kph", "percent": "pct percent",
    "degrees": "degree degrees deg celsius", "dollar": "dollar dollars", "euro": "euro euros",
    "kg": "kilo kilos", "kB": "kb", "ha": "hectare hectares", "m2": "sqm",
}  # fmt: skip
SYMBOLS = {
    f"{prefix}{name}{plural}": short + symbol
    for (prefix, (short, _)), (symbol, names), plural in product(_POWERS.items(), _NAMES.items(), ("", "s"))
    for name in names.split()
} | {name: symbol for symbol, names in _OTHERS.items() for name in names.split()}
"""The symbol of each name in small letters, with the case that tells 5 mW from 5 MW."""
_TYPED = {symbol.lower(): symbol for symbol in "MB GB TB kHz MHz GHz kW GW kWh GWh kPa kJ kV kN".split()}  # noqa: SIM905
"""What small letters alone stand for, as they are often typed; `mw` and `mv` could be two units."""
WORTH = {
    short + symbol: (10.0**power, symbol)
    for (short, power), symbol in product(_POWERS.values(), _NAMES)
    if short + symbol != "pm"  # the afternoon
} | {
    **{f"{short}m{n}": (10.0 ** (n * power), f"m{n}") for short, power in _POWERS.values() for n in (2, 3)},
    "h": (3600.0, "s"),
    "min": (60.0, "s"),
    "t": (1e6, "g"),
    "ha": (1e4, "m2"),
}
"""Of each symbol, how many of the unit without a prefix it is, and that unit."""


def symbol_of(unit: str) -> str | None:
    """Return the symbol of a unit's name, and of a symbol that is typed in small letters; None where none is known."""
    return SYMBOLS.get(unit.casefold()) or _TYPED.get(unit)
