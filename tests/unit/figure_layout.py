"""What is wrong with the layout of a figure: text and markers off the page, cut off, or on other text.

A renderer notes what is really drawn, so that nothing invisible counts, and where: every line of text as a rectangle
that may be turned.
"""

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from evenlight.reports.style import SETTINGS

DPI = 72  # as SVG and PDF are written
WIDEST = 1.3  # of a page as its figure was planned, since no name is foreseen
TOLERANCE = 1.0  # points, within which what is printed beside something may touch it


class Notes(RendererAgg):
    """Draws, and notes the corners of every line of text and the box of every marker."""

    def __init__(self, figure: Figure) -> None:
        width, height = figure.bbox.size
        self.texts: list[tuple[str, object, np.ndarray]] = []
        self.markers: list[tuple[Bbox, Bbox | None]] = []
        super().__init__(width, height, figure.dpi)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Note a line of text."""
        width, height, descent = self.get_text_width_height_descent(s, prop, ismath)
        turn = np.deg2rad(angle)
        along, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        start = np.array([x, self.height - y]) - descent * across
        corners = [start, start + width * along, start + width * along + height * across, start + height * across]
        if s.strip():
            self.texts.append((s, mtext, np.array(corners)))
        super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)

    def _update_methods(self) -> None:
        super()._update_methods()
        draw = self.draw_markers

        def draw_and_note(gc, marker_path, marker_trans, path, trans, face=None):
            size = marker_path.transformed(marker_trans).get_extents()
            # Not the ticks of axes, which are markers to matplotlib.
            if size.width > 1 and size.height > 1:
                clip = gc.get_clip_rectangle()
                for place in trans.transform(path.vertices):
                    self.markers.append((size.translated(*place), None if clip is None else clip.frozen()))
            draw(gc, marker_path, marker_trans, path, trans, face)

        self.draw_markers = draw_and_note


def problems(figure: Figure) -> list[str]:
    """What is off the page, cut off or covered, in words; none of a figure that is in order."""
    figure.dpi = DPI
    notes = Notes(figure)
    figure.draw(notes)
    page = written_page(figure, notes).padded(TOLERANCE)
    found = []
    if page.width > WIDEST * figure.bbox.width or page.height > WIDEST * figure.bbox.height:
        found.append(f"much larger than planned: {page.size.round()} for {figure.bbox.size.round()}")
    for text, _, corners in notes.texts:
        if not all(page.contains(*corner) for corner in corners):
            found.append(f"off the page: {text}")
    for marker, clip in notes.markers:
        if not (page.contains(*marker.min) and page.contains(*marker.max)):
            found.append(f"off the page: a marker at {marker.min.round()}")
        centre = (marker.min + marker.max) / 2
        clip = None if clip is None else clip.padded(TOLERANCE)
        if clip is not None and clip.contains(*centre) and not _within(marker, clip):
            found.append(f"cut off: a marker at {marker.min.round()}")
    for (text, artist, corners), (other, other_artist, other_corners) in combinations(notes.texts, 2):
        if artist is not other_artist and _touch(corners, other_corners):
            found.append(f"one over the other: {text} | {other}")
    for text, _, corners in notes.texts:
        if any(_touch(corners, _corners(marker)) for marker, _ in notes.markers):
            found.append(f"a marker over: {text}")
    return found


def written_page(figure: Figure, renderer: RendererAgg) -> Bbox:
    """The page of the file, in the figure's coordinates at :data:`DPI`."""
    assert SETTINGS["savefig.bbox"] == "tight"
    box = figure.get_tightbbox(renderer).padded(SETTINGS["savefig.pad_inches"])
    return Bbox(DPI * box.get_points())


def _within(inner: Bbox, outer: Bbox) -> bool:
    return outer.contains(*inner.min) and outer.contains(*inner.max)


def _corners(box: Bbox) -> np.ndarray:
    return np.array([box.min, (box.x1, box.y0), box.max, (box.x0, box.y1)])


def _touch(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two rectangles overlap by more than the tolerance: on no side of either can a line part them."""
    for corners in (one, other):
        for side in (corners[1] - corners[0], corners[2] - corners[1]):
            normal = side / np.hypot(*side)
            a, b = one @ normal, other @ normal
            if min(a.max(), b.max()) - max(a.min(), b.min()) <= TOLERANCE:
                return False
    return True
