"""Every kind of figure: nothing is cut off, off the page or over other text, whatever the study and its names."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import every_figure
import matplotlib
import pandas as pd
import pytest
from combinations import spread
from every_figure import FIGURES, Names
from figure_layout import DPI, Notes, problems, written_page
from matplotlib.figure import Figure
from matplotlib.text import Text

from evenlight.reports.style import SETTINGS, draw
from evenlight.statistics.comparisons.study import MetricLabel

LONG_EXPLAINERS = (
    "Integrated Gradients × Input, 50 steps", "LIME", "Gradient × Input", "Partition SHAP with masks", "Uniform random",
    "Attention rollout", "Pattern variant", "DIG",
)  # fmt: skip
LONG_METRICS = (
    "AOPC comprehensiveness, released code",
    "Sufficiency",
    "Gini index",
    "Mass accuracy, paper",
    "Sparsity",
)


USUAL = ("Gradient", "Gradient × Input", "Integrated Gradients", "Random")


def names(models: int, explainers: int, metrics: int, groups: int, long: bool = False) -> Names:
    """So many of each; with ``long``, names as people give them, of very different lengths."""
    short = {kind: [f"{kind}{n}" for n in range(20)] for kind in ("m", "x", "s", "g", "d")}
    labels = short | {
        "m": ["bert-base-uncased, fine-tuned", "ola_cea", "distilroberta-base"],
        "x": list(LONG_EXPLAINERS),
        "s": list(LONG_METRICS),
        "g": ["male", "female, as annotators said", "unknown", "people without a gender"],
        "d": ["CrowS-Pairs, nine kinds of bias", "COMPAS", "sentences from books"],
    }
    chosen = labels if long else short

    def some(kind: str, count: int) -> dict[str, str]:
        return dict(zip(short[kind], chosen[kind][:count], strict=False))

    return Names(
        some("d", models),
        some("m", models),
        some("x", explainers),
        {name: MetricLabel(name, label, name != "s1") for name, label in some("s", metrics).items()},
        chosen["g"][:groups],
        "What is drawn, on the first of all datasets" if long else "Drawn",
    )


STUDIES = {
    "few": names(1, 2, 1, 2),
    "few, long names": names(1, 2, 2, 2, long=True),
    "usual names": replace(names(2, 4, 2, 2), explainers=dict(zip(names(2, 4, 2, 2).explainers, USUAL, strict=True))),
    "many, long names": names(2, 6, 4, 3, long=True),
}
DRAWN = [make for views in FIGURES.values() for make in views]


@pytest.fixture(autouse=True)
def look():
    """As :func:`evenlight.reports.style.draw` sets it."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


@spread("make, study", DRAWN, STUDIES)
def test_nothing_is_cut_off_or_covered(make, study):
    assert problems(make(STUDIES[study])) == []


def test_every_kind_of_figure_is_drawn():
    assert [module for module, made in FIGURES.items() if not made] == []
    assert sum(map(len, FIGURES.values())) > len(FIGURES) > 12


# Of tokens and of changes of a concept, as a study has them that has both: the groups compare all explanations.
MODALITIES = {
    "tokens": {"explainers": ["x0", "x1"], "metrics": ["s0", "s1"]},
    "effects": {"explainers": ["x2", "x3"], "metrics": ["s2"]},
}


@pytest.mark.parametrize("kind", ["disparity", "effects", "score_panels"])
def test_a_metric_stands_beside_the_explainers_that_it_is_about(kind, monkeypatch):
    """What is of another modality is left out: no place says "undefined" or has a dash, and no label is too many."""
    drawing = getattr(every_figure, f"draw_{kind}")

    def draw_mixed(table: pd.DataFrame, *arguments: object) -> Figure:
        of_tokens, of_effects = (
            table["explainer"].isin(of["explainers"]) & table["metric"].isin(of["metrics"])
            for of in MODALITIES.values()
        )
        return drawing(table.fillna(0)[of_tokens | of_effects], *arguments, modalities=MODALITIES)

    monkeypatch.setattr(every_figure, f"draw_{kind}", draw_mixed)
    figure = FIGURES[kind][0](names(1, 4, 3, 2))
    assert problems(figure) == []
    # Behind a bar a dash is a verdict.
    missing = {"undefined"} if kind == "effects" else {"undefined", "–"}
    assert not missing & {text.get_text() for text in figure.findobj(Text)}
    ticks = [(*axes.get_xticklabels(), *axes.get_yticklabels()) for axes in figure.axes]
    beside = [{tick.get_text()[-2:] for tick in of_axes} & {"x0", "x1", "x2", "x3"} for of_axes in ticks]
    assert {frozenset(explainers) for explainers in beside if explainers} == {
        frozenset(of["explainers"]) for of in MODALITIES.values()
    }


def test_the_pages_of_the_files_hold_what_is_drawn(tmp_path):
    paths = [tmp_path / "figure.svg", tmp_path / "figure.pdf"]
    make, study = FIGURES["effects"][0], STUDIES["few"]
    draw(paths, lambda: make(study), "Title")
    figure = make(study)
    figure.dpi = DPI
    notes = Notes(figure)
    figure.draw(notes)
    view = [float(part) for part in ElementTree.parse(paths[0]).getroot().get("viewBox").split()]
    media = [float(part) for part in re.search(rb"/MediaBox \[ ([^\]]*)\]", paths[1].read_bytes())[1].split()]
    for page in (view, media):
        assert page == pytest.approx([0, 0, *written_page(figure, notes).size], abs=2)
