"""The examples of docs/own_parts.md, written into a folder as a user would."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "own_parts.md"
CODE = re.findall(r'```python\n("""(parts/\w+\.py)""".*?)```', PAGE.read_text(), re.DOTALL)
EXAMPLES = {name: code for code, name in CODE}


def write_examples(folder: Path) -> None:
    """All of them, by their own paths below ``folder``."""
    for name, code in EXAMPLES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
