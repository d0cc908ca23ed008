"""Fields that several families of metrics have."""

from evenlight.settings import refusal, shown


def ascending(values: list) -> list:
    """The values, which are to ascend."""
    if values != sorted(values):
        raise refusal(((), f"found {shown(values)}; allowed is an ascending list"))
    return values
