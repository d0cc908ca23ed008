"""The page of a study of scores in a real browser: it shows what its table names, and nothing that only models have."""

import pytest
from reading import DESK, PHONE, StudyPage
from test_scores_study import page_made

from evenlight.reports.index.page import write_page


@pytest.fixture(scope="module")
def reader(driver, tmp_path_factory) -> StudyPage:
    folder = tmp_path_factory.mktemp("scores")
    _, store, content = page_made(folder)
    write_page(content, store, folder / "index.html", None, None)
    return StudyPage(driver, folder / "index.html")


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nobody_reads_of_texts_trainings_or_explainers(reader, width):
    reader.open(width=width)
    seen = reader.ask("document.body.innerText")
    assert "better score" in seen
    assert [word for word in ("xplain", "text", "Text", "train", " run", "–:", ": –", "(group)") if word in seen] == []
    assert "2 repetitions" in reader.text("#view")
    assert reader.ask("document.getElementById('explainer').parentElement.hidden")
    assert reader.ask("document.documentElement.scrollWidth") <= width
    assert reader.messages() == []
