"""How `make docs` makes a site of the pages of this repository, which stay plain Markdown.

The folder of the repository is the source, so that links between pages lead where they lead on a code host. What a page
has not, the navigation and the formulas, is added here.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from numpy.typing import ArrayLike
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.typing import stringify_annotation

LOGGER = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "docs" / "site")]

# Where a page stands, by reader; the first pattern that names it counts. Of a folder with a README.md that page stands
# here, and leads to the others.
NAVIGATION = {
    "Judge a table of scores": ["docs/judge.md"],
    "Audit a classifier": ["docs/audit.md", "docs/read_a_verdict.md", "docs/page.md", "docs/service.md"],
    "Run a study": [
        "docs/use.md",
        "docs/looks.md",
        "docs/datasets.md",
        "docs/models.md",
        "docs/concepts.md",
        "docs/causal_simulation.md",
        "docs/reasons.md",
        "docs/corpus.md",
        "docs/imported.md",
        "docs/answers.md",
    ],
    "Learn by example": ["docs/tutorials/*", "docs/notebooks/*", "docs/gallery.md"],
    "In a notebook": ["docs/notebook.md", "docs/site/api/notebook.rst"],
    "Add your own part": ["docs/own_parts.md", "docs/site/api/own.rst"],
    "On a cluster": ["docs/operations.md"],
    "What was found": ["docs/results/*"],
    "Reference": [
        "docs/glossary.md",
        "config/README.md",
        "docs/definitions.md",
        "docs/architectures.md",
        "docs/site/api/*",
        "resources/*/README.md",
    ],
    "The project": [
        "docs/architecture.md",
        "docs/decisions/*",
        "docs/performance.md",
        "docs/mutation.md",
        "docs/*.md",  # what has no other place
        "CONTRIBUTING.md",
        "bench/README.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ],
}

project = "Evenlight"
author = "The Evenlight developers"
root_doc = "README"
include_patterns = [
    "*.md",
    "config/README.md",
    "bench/README.md",
    "resources/*/README.md",
    "docs/*.md",
    "docs/**/*.md",
    "docs/**/*.ipynb",
    "docs/site/api/*.rst",
]
# Not walked through.
exclude_patterns = [".*", "results", "logs", "benchmarks", "docs/_build", "tests", "workflow"]

# Languages of code that are not coloured, such as CSV, are no mistake, nor is a class of a name that two modules have.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "glossary"]
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True  # `$$ … $$` within a paragraph, as code hosts read it
myst_heading_anchors = 6
nb_execution_mode = "off"  # notebooks are shown with the outputs that they have
nb_ipywidgets_js = {}  # from another host

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 80
add_module_names = False

html_theme = "furo"
html_title = "Evenlight"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"


def pages_like(pattern: str) -> list[str]:
    """The pages that a pattern names, without their endings."""
    paths = (path for path in ROOT.glob(pattern) if path.suffix in {".md", ".ipynb", ".rst"})
    return sorted(str(path.relative_to(ROOT).with_suffix("")) for path in paths)


def parts_of_navigation() -> Iterator[tuple[str, list[str]]]:
    """The caption and the pages of each part that has any."""
    taken = {root_doc}
    for caption, patterns in NAVIGATION.items():
        shown = []
        for pages in map(pages_like, patterns):
            front = [page for page in pages if page.endswith("/README")]
            shown += [page for page in front or pages if page not in taken]
            taken.update(pages)
        if shown:
            yield caption, shown


def toctree(pages: list[str], *options: str) -> str:
    """The Markdown that puts pages into the navigation below the page on which it stands."""
    lines = [":hidden:", ":titlesonly:", *options, *(f"/{page}" for page in pages)]
    return "\n\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def add_navigation(app, docname: str, source: list[str]) -> None:
    """The first page leads to every part, and the first page of a folder of docs/ to the pages beside it."""
    folder, _, name = docname.rpartition("/")
    if docname == root_doc:
        source[0] += "".join(toctree(pages, f":caption: {caption}") for caption, pages in parts_of_navigation())
    elif name == "README" and folder.startswith("docs/"):
        source[0] += toctree([page for page in pages_like(f"{folder}/*") if page != docname])


def unlink_folders(app, doctree: nodes.document) -> None:
    """A folder has no page: on a code host a link lists it, here its name stands alone."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link["reftype"] == "myst" and (Path(doctree["source"]).parent / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def shorten_types(app, what: str, name: str, described: object, options, signature: str | None, returns: str | None):
    """Call numpy's type by its name, for which Sphinx has all that it may be."""
    return signature and signature.replace(stringify_annotation(ArrayLike, "smart"), "ArrayLike"), returns


def mathml(translator, node: nodes.Element, display: str) -> None:
    """A formula as browsers draw it by themselves, without scripts or fonts from elsewhere."""
    formula = convert(node.astext(), display=display)
    if unknown := re.findall(r"\\[a-zA-Z]+", formula):
        LOGGER.warning("unknown in a formula: %s", ", ".join(unknown), location=node)
    translator.body.append(formula)
    raise nodes.SkipNode


def add_first_page(app, problem: Exception | None) -> None:
    """Web servers look for the first page under another name."""
    if problem is None and app.builder.format == "html":
        shutil.copyfile(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app) -> dict:
    """What Sphinx calls."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda translator, node: mathml(translator, node, "inline"), None),
        block_renderers=(lambda translator, node: mathml(translator, node, "block"), None),
    )
    app.connect("autodoc-process-signature", shorten_types)
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", unlink_folders)
    app.connect("build-finished", add_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
