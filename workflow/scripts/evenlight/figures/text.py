"""Numbers as a reader wants them printed."""

import math


def signed(number: float, digits: int = 2) -> str:
    """A number with a typographic minus, and none before a rounded zero; an en dash where it is NaN.

    >>> signed(-0.416), signed(-0.001), signed(float("nan")), signed(float("-inf"))
    ('−0.42', '0.00', '–', '−∞')
    """
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return "–" if math.isnan(number) else f"{number:z.{digits}f}".replace("-", "−")


def mean_sd(mean: float, sd: float, digits: int) -> str:
    """Mean and standard deviation; an en dash where there is no mean, and no deviation from an infinite one.

    >>> mean_sd(0.5214, 0.103, 2)
    '0.52 ± 0.10'
    """
    return signed(mean) if not math.isfinite(mean) else f"{signed(mean, digits)} ± {signed(sd, digits)}"
