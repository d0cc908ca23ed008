"""Fields that several families of metrics have."""

from pydantic_core import PydanticCustomError

from evenlight.settings import shown


def ascending(values: list) -> list:
    """The values, which are to ascend."""
    if values != sorted(values):
        raise PydanticCustomError(
            "combination", "{said}", {"said": f"found {shown(values)}; allowed is an ascending list"}
        )
    return values
