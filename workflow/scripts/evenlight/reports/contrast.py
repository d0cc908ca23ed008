"""Can a text be read on its background? The measure of the Web Content Accessibility Guidelines."""

Colour = tuple[float, float, float]
INKS = {"black": (0.0, 0.0, 0.0), "white": (1.0, 1.0, 1.0)}


def luminance(colour: Colour) -> float:
    """Relative luminance of an sRGB colour with parts in [0, 1] (WCAG 2.2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_ratio(colour_a: Colour, colour_b: Colour) -> float:
    """Contrast of two colours, from 1 to 21 (WCAG 2.2); text needs at least 4.5."""
    light, dark = sorted((luminance(colour_a), luminance(colour_b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(fill: Colour) -> str:
    """The name of the colour in which a text is read best on ``fill``.

    >>> ink_on((1.0, 0.9, 0.2)), ink_on((0.1, 0.1, 0.4))
    ('black', 'white')
    """
    return max(INKS, key=lambda ink: contrast_ratio(INKS[ink], fill))
