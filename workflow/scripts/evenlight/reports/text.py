"""Numbers as a reader wants them printed."""

import math
from collections.abc import Callable, Collection

import pandas as pd


def percent(share: float) -> str:
    """A level that somebody chose, as a percentage with all its digits.

    >>> percent(0.05), percent(0.025), percent(0.995)
    ('5%', '2.5%', '99.5%')
    """
    return f"{100 * share:.6g}%"


def signed(number: float, digits: int = 2) -> str:
    """A number with a typographic minus, and none before a rounded zero; an en dash where it is NaN.

    >>> signed(-0.416), signed(-0.001), signed(float("nan")), signed(float("-inf"))
    ('−0.42', '0.00', '–', '−∞')
    """
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return "–" if math.isnan(number) else f"{number:z.{digits}f}".replace("-", "−")


def three_digits(number: float) -> str:
    """A number with three digits that count and a typographic minus.

    >>> three_digits(-0.30612), three_digits(1234.0), three_digits(float("nan")), three_digits(float("-inf"))
    ('−0.306', '1.23e+03', 'nan', '−∞')
    """
    said = f"{number:.3g}".replace("inf", "∞")
    return said.replace("-", "−", 1) if number < 0 else said


def bracketed(
    number: float | None, low: float | None, high: float | None, written: Callable[[float], str], unit: str = ""
) -> str:
    """A number with its unit and, where it has one, its interval; an en dash where it is not known.

    >>> bracketed(-0.25, -0.4, -0.1, three_digits), bracketed(0.5, None, None, str), bracketed(None, None, None, str)
    ('−0.25 [−0.4,\xa0−0.1]', '0.5', '–')
    """
    if pd.isna(number):
        return "–"
    ends = "" if pd.isna(low) else f" [{written(low)},\N{NO-BREAK SPACE}{written(high)}]"
    return written(number) + unit + ends


def with_ends(number: float, low: float = math.nan, high: float = math.nan) -> str:
    """Three digits of a number and of the ends of its interval, where it has one; an en dash where it is NaN.

    >>> with_ends(0.5, 0.25, 0.75), with_ends(0.5214), with_ends(float("nan"))
    ('0.5 (0.25 to 0.75)', '0.521', '–')
    """
    said = "–" if math.isnan(number) else three_digits(number)
    return said if math.isnan(low) else f"{said} ({three_digits(low)} to {three_digits(high)})"


def mean_sd(mean: float, sd: float, digits: int) -> str:
    """Mean and standard deviation; an en dash where there is no mean, and no deviation from an infinite one.

    >>> mean_sd(0.5214, 0.103, 2)
    '0.52 ± 0.10'
    """
    return signed(mean) if not math.isfinite(mean) else f"{signed(mean, digits)} ± {signed(sd, digits)}"


def span(values: Collection[float], digits: int = 2) -> str:
    """Where values lie, as a sentence has it after "is".

    >>> span([0.1, 0.5, -0.2]), span([0.5, 0.501])
    ('between −0.20 and 0.50', '0.50')
    """
    ends = [signed(end, digits) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def mean_over_seeds(mean: float, sd: float, seeds: int, digits: int) -> str:
    """:func:`mean_sd` over ``seeds``; one of them has no deviation.

    >>> mean_over_seeds(0.5214, 0.103, 3, 2), mean_over_seeds(0.5214, 0.0, 1, 2)
    ('0.52 ± 0.10', '0.52')
    """
    return signed(mean, digits) if seeds == 1 else mean_sd(mean, sd, digits)


def json_number(value: float) -> float | None:
    """A number that JSON has, with six digits; None for one that it has not, or that is not known.

    >>> json_number(1 / 3), json_number(float("nan")), json_number(pd.NA)
    (0.333333, None, None)
    """
    return None if pd.isna(value) or math.isinf(value) else float(f"{value:.6g}")
