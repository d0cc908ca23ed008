"""The pictures of the documentation: what is last to be seen is seen whole, in a window of any size."""

import struct
from pathlib import Path

import pytest
from pictures import Picture, photograph

PAGE = """<!DOCTYPE html>
<html lang="en"><title>Blocks</title>
<style>body {{ margin: 0 }} div {{ height: {height}px }}</style>
<div id="first"></div><div id="second"></div><div id="third"></div></html>
"""
MARGIN = 8


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels, by its header."""
    return struct.unpack(">II", picture.read_bytes()[16:24])


@pytest.mark.parametrize("height", [100, 700])
@pytest.mark.parametrize(
    ("first", "last", "blocks", "margins"),
    [("", "#second", 2, 1), ("#second", "#second", 1, 2), ("#first", "#third", 3, 1)],
)
def test_a_picture_ends_below_what_is_last_to_be_seen(driver, tmp_path, height, first, last, blocks, margins):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    page.write_text(PAGE.format(height=height), encoding="utf-8")
    photograph(driver, page, Picture("page.html", 500, first, last), picture)
    assert size(picture) == (500, blocks * height + margins * MARGIN)


def test_a_figure_is_as_large_as_it_is(driver, tmp_path):
    figure, picture = tmp_path / "figure.svg", tmp_path / "picture.png"
    figure.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="300pt" height="750pt"/>', encoding="utf-8")
    photograph(driver, figure, Picture("figure.svg"), picture)
    assert size(picture) == (400, 1000)
