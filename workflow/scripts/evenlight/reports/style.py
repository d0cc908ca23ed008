"""One look for all figures, and files that are byte for byte the same when drawn again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing

# The palette of Okabe and Ito (2008), which readers with any colour vision can tell apart.
GROUP_COLOURS = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#D55E00", "#999999"]
# Repeats the group where colours do not print; the first two stay plain and light.
GROUP_HATCHES = ["", "////", "....", "xxxx", "\\\\\\\\", "----", "oooo", "++++"]
# Shapes tell groups apart besides colours.
GROUP_MARKERS = "osD^vP*X<>"

SETTINGS = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.title_fontsize": 9,
    "hatch.linewidth": 0.4,
    "svg.fonttype": "none",  # text stays text: searchable, and readable by a screen reader
    "svg.hashsalt": "evenlight",  # else the ids in the file are random
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    # The page is as large as what is drawn, so that nothing is cut off, however long a name is.
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
}
# Without the date of drawing, the same data gives the same bytes.
METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def draw(paths: Sequence[str | Path], make: Callable[[], Figure], title: str) -> None:
    """Write the figure that ``make`` returns to every path, as SVG, PDF or PNG by its suffix.

    ``title`` is kept in the files' metadata.
    """
    for path in paths:
        if _format(path) not in METADATA:
            raise InputError(f"--output {path}: figures are written as .svg, .pdf or .png; change the file's suffix")
    with our_look():
        figure = make()
        for path in paths:
            with replacing(path) as temporary:
                metadata = {"Title": title} | METADATA[_format(path)]
                figure.savefig(temporary, format=_format(path), metadata=metadata)


@contextmanager
def our_look() -> Iterator[None]:
    """Figures of a block look as all do: a reader's own matplotlibrc does not change them."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


class ShownFigure(Figure):
    """A figure that a notebook shows as it is."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        with our_look():
            self.savefig(buffer, format="png")
        return buffer.getvalue()


def _format(path: str | Path) -> str:
    return Path(path).suffix.lstrip(".").lower()


# How the dot and the interval of a mean look; options of errorbar().
DOT = {"markeredgecolor": "black", "markeredgewidth": 0.4, "markersize": 4, "elinewidth": 0.9}


def colour_of(position: int) -> str:
    """The colour of the group at ``position``."""
    return GROUP_COLOURS[position % len(GROUP_COLOURS)]


def marker_of(position: int) -> str:
    """The shape of the group at ``position``."""
    return GROUP_MARKERS[position % len(GROUP_MARKERS)]


def hatch_of(position: int) -> str:
    """The hatch of the group at ``position``."""
    return GROUP_HATCHES[position % len(GROUP_HATCHES)]
