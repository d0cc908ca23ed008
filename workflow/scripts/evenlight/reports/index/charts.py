"""The charts of the page in Vega-Lite, and the scripts that draw them, which it holds."""

from functools import cache

import altair as alt
import vl_convert

# Blue and orange of Okabe and Ito (2008) that stand out from white and from black.
FIRST, SECOND = "#0072B2", "#D55E00"
# The letters and lines have the colour of the page's text, so in dark mode and in print too.
INK = "currentColor"
LOOK = {
    "background": "transparent",
    "font": "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        **dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), INK),
        "gridOpacity": 0.15,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 170,
    },
    "axisX": {"labelOverlap": "greedy", "labelSeparation": 6},
}
# The rows come from the page, under these names.
ROWS, MEANS = alt.NamedData("rows"), alt.NamedData("means")


@cache
def scripts() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which defines ``vegaEmbed``; from the installed package."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def charts(explainers: int) -> dict[str, dict]:
    """The specifications by name, for a study with so many explainers."""
    return {
        "effects": _whole(_effects(explainers), "How often the first group wins, with limits"),
        "scores": _whole(_scores(), "Distribution of the scores of each group"),
        "differences": _whole(_differences(), "Distribution of the differences within pairs"),
    }


def _whole(chart: alt.LayerChart, description: str) -> dict:
    return chart.properties(width="container", description=description).configure(**LOOK).to_dict()


def _effects(explainers: int) -> alt.LayerChart:
    """A row per explainer: the limits of each comparison alone thick, those with all comparisons considered thin."""
    explainer = alt.Y("explainer:N", sort=alt.EncodingSortField("place", op="min"), title=None)
    rows = alt.Chart(ROWS).encode(y=explainer)
    chosen = alt.condition("datum.chosen", alt.value(SECOND), alt.value(INK))

    def limits(low: str, high: str, width: float) -> alt.Chart:
        x = alt.X(f"{low}:Q", title="won, of 100 that are decided", scale=alt.Scale(domain=[0, 100]))
        return rows.mark_rule(strokeWidth=width).encode(x=x, x2=f"{high}:Q", color=chosen)

    return alt.layer(
        _upright(50),
        limits("family_low", "family_high", 1),
        limits("low", "high", 3.5),
        rows.mark_point(size=70, opacity=1, filled=True).encode(x="share:Q", color=chosen),
    ).properties(height=26 * explainers)


def _upright(place: float) -> alt.Chart:
    """The upright line where neither group has more, of which a screen reader has nothing to say."""
    return alt.Chart().mark_rule(stroke=INK, strokeDash=[4, 3], aria=False).encode(x=alt.datum(place))


def _bars(colour: str) -> alt.Chart:
    axis = alt.Axis(format="%", tickCount=4)
    return (
        alt.Chart(ROWS)
        .mark_rect(fill=colour, fillOpacity=0.35, stroke=colour, strokeWidth=1)
        .encode(
            x=alt.X("from:Q", title="score"), x2="to:Q", y=alt.Y("share:Q", title="share", axis=axis), y2=alt.datum(0)
        )
    )


def _mean(colour: str, dash: list[int]) -> alt.Chart:
    return alt.Chart(MEANS).mark_rule(stroke=colour, strokeWidth=2.5, strokeDash=dash).encode(x="mean:Q")


def _scores() -> alt.LayerChart:
    """The first group as bars, the second as a dashed line of steps, so that colour does not stand alone."""
    second = (
        alt.Chart(ROWS)
        .mark_line(interpolate="step-after", stroke=SECOND, strokeWidth=2.5, strokeDash=[5, 3])
        .encode(x="from:Q", y="share:Q")
    )
    return alt.layer(
        _bars(FIRST).transform_filter("datum.side == 0 && datum.share > 0"),
        second.transform_filter("datum.side == 1"),
        _mean(FIRST, []).transform_filter("datum.side == 0"),
        _mean(SECOND, [5, 3]).transform_filter("datum.side == 1"),
    ).properties(height=180)


def _differences() -> alt.LayerChart:
    bars = _bars(INK).encode(x=alt.X("from:Q", title="difference")).transform_filter("datum.share > 0")
    return alt.layer(bars, _upright(0), _mean(INK, [])).properties(height=140)
