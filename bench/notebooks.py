"""Run the notebooks of the documentation and keep their outputs in them.

python bench/notebooks.py --folder results/tutorials docs/notebooks/*.ipynb    # whose studies they read
"""

import argparse
import re
import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from tutorials import plain


def executed(path: Path, **variables: str) -> NotebookNode:
    """The notebook with the outputs of a run beside it; progress bars, which are for the eye, are left out.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    options = {"timeout": 600, "record_timing": False, "resources": {"metadata": {"path": str(path.parent)}}}
    NotebookClient(notebook, **options).execute(**({"env": variables} if variables else {}))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def shown(notebook: NotebookNode) -> list[str]:
    """What a reader sees below each cell of code, whatever the numbers, colours and white space."""
    return [plain(" ".join(map(_text, cell.outputs))) for cell in notebook.cells if cell.cell_type == "code"]


def _text(output: NotebookNode) -> str:
    data = output.get("data", {})
    text = data.get("text/html") or data.get("text/plain") or output.get("text", "")
    return re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)


def main(arguments: argparse.Namespace) -> None:
    """Run each notebook in the folder where the tutorials were followed, and write it back where it was."""
    folder = arguments.folder / "docs/notebooks"
    for path in arguments.notebooks:
        copy = Path(shutil.copy(path, folder))
        nbformat.write(executed(copy), path)
        print(path, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("results/tutorials"))
    parser.add_argument("notebooks", type=Path, nargs="+")
    main(parser.parse_args())
