"""Code of a user's own: the examples of docs/own_parts.md, and what is refused."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from models_for_tests import WORDS, context_of, sentences_of, tiny_classifier
from own_parts import CODE, write_examples
from wording import says

import evenlight
from evenlight import configuration, explainers, metrics
from evenlight.configuration import REGISTRIES
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.datasets import Reader, load
from evenlight.datasets.importing import named_resources
from evenlight.explainers import explain
from evenlight.explainers.families.lime import Lime
from evenlight.jobs import own_files
from evenlight.metrics import score
from evenlight.metrics.explanations import explanation_of
from evenlight.own import Explainer, Metric

LAST, CAPTUM = "parts/last_layer.py:LastLayer", "parts/by_captum.py:ByCaptum"
TOP, LINES = "parts/top_share.py:TopShare", "parts/reviews.py:JsonLines"


@pytest.fixture
def folder(own_parts, monkeypatch) -> Path:
    """A folder of a study, with the examples, in the folder where the run begins."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    return own_parts


def study(**changed: dict) -> dict:
    return {
        "study": "mine",
        "datasets": {"demo": {"reader": "demo"}},
        "trainings": {"short": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}},
        "models": {
            "small": {"architecture": "bert", "layers": 1, "heads": 1, "hidden_size": 8, "training": "short"},
        },
        "explainers": {"mine": {"method": LAST}},
        "metrics": {"top": {"metric": TOP}},
        "statistics": {"compare": {"gender": [["male", "female"]]}},
    } | changed


def completed(folder: Path, config: dict, trusts_archives: bool = False) -> dict:
    own_files.locate(config, [folder, Path()], trusts_archives)
    return configuration.complete(config)


def problem(folder: Path, **changed: dict) -> str:
    """The one problem that a configuration has."""
    with pytest.raises(InputError) as refused:
        completed(folder, study(**changed))
    [heading, said] = str(refused.value).splitlines()
    assert heading.startswith("the configuration has 1 problem")
    return said.strip()


def attributions(folder: Path, settings: dict, classifier, sentences) -> list[np.ndarray]:
    config = completed(folder, study(explainers={"mine": settings}))
    methods = configuration.without_labels(config["explainers"])
    context = context_of(classifier)
    explanations = explain(explainers.Explainer.parse_all(methods), sentences, context)
    return [each.token_score for each in explanations["mine"].attributions]


# Examples of the docs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_the_attention_of_the_last_layer_is_that_of_transformers(folder, architecture):
    import torch

    classifier = tiny_classifier(architecture)
    sentences = sentences_of(classifier)
    first, mean = (attributions(folder, {"method": LAST, "by": by}, classifier, sentences) for by in ("first", "all"))
    network = classifier.network
    network.set_attn_implementation("eager")
    for sentence, of_first, of_all in zip(sentences, first, mean, strict=True):
        token_id = torch.as_tensor(np.asarray(sentence.token_id))[None]
        [*_, attention] = network(token_id, output_attentions=True).attentions
        expected = attention[0].mean(0).detach().numpy()
        np.testing.assert_allclose(of_first, expected[0], atol=1e-5)
        np.testing.assert_allclose(of_all, expected.mean(0), atol=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_captum_gives_what_the_workflow_gives(folder, architecture):
    """Of the logit, from pad tokens: captum's default are Gauss-Legendre points, too."""
    classifier = tiny_classifier(architecture)
    sentences = sentences_of(classifier)
    by_captum = attributions(folder, {"method": CAPTUM, "steps": 20}, classifier, sentences)
    settings = configuration.completed_entry(
        "explainers", "it", {"method": "integrated_gradients", "steps": 20, "baseline": "pad", "output": "logit"}
    )
    ours = explain(explainers.Explainer.parse_all({"it": settings}), sentences, context_of(classifier))[
        "it"
    ].attributions
    for one, other in zip(by_captum, ours, strict=True):
        np.testing.assert_allclose(one, other.token_score, atol=1e-5)


def test_a_metric_is_that_of_its_formula(folder):
    config = completed(folder, study(metrics={"top": {"metric": TOP, "tokens": 2}}))
    [sentence, other, *_] = sentences_of(tiny_classifier("bert"))
    values = np.zeros(len(sentence.token_id))
    values[:3] = [1, -5, 2]
    explanations = [explanation_of(sentence, values), explanation_of(other, np.zeros(len(other.token_id)))]
    found = score(metrics.Metric.parse_all(configuration.without_labels(config["metrics"])), explanations)["top"]
    np.testing.assert_allclose(found, [7 / 8, np.nan])
    assert configuration.metric_annotations(config)["top"]["better"] == "higher"
    assert not configuration.needs_model("metrics", configuration.family_of("metrics", TOP))


def reviews(folder: Path, rows: list[dict]) -> dict:
    """A study of a file of JSON lines."""
    (folder.parent / "reviews.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    columns = {"text": "review", "label": "stars", "classes": ["bad", "good"], "test_share": 0.5}
    attributes = {"gender": {"column": "gender", "levels": ["male", "female"]}}
    return study(
        datasets={"mine": {"reader": LINES, "file": "reviews.jsonl", "attributes": attributes, **columns}},
        statistics={"compare": {"gender": [["male", "female"]]}},
    )


def rows_of(number: int) -> list[dict]:
    return [
        {
            "review": f"Well, text {row} is {['bad', 'good'][row % 2]}.",
            "stars": ["bad", "good"][row % 2],
            "gender": ["male", "female"][row // 2 % 2],
        }
        for row in range(number)
    ]


def test_a_reader_gives_rows_that_are_read_as_those_of_a_table(folder):
    config = completed(folder, reviews(folder, rows_of(20)))
    settings = config["datasets"]["mine"]
    reader = Reader.parse(settings)
    assert reader.named_files() == ["reviews.jsonl"]
    assert reader.factors() == {"gender": ["male", "female"]}
    dataset = load({"reviews.jsonl": Path("reviews.jsonl")}, Reader.parse(settings))
    assert dataset.items["words"].tolist()[0] == ["Well", ",", "text", "0", "is", "bad", "."]
    assert dataset.items["label"].tolist() == [row % 2 for row in range(20)]
    assert dataset.units["level"].tolist()[:4] == ["male", "male", "female", "female"]
    assert set(dataset.items["split"]) == {"train", "test"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"stars": "bad", "gender": "male"}, r"row 3:.*no column 'review'.*stars"),
        ({"review": "Fine.", "stars": "so so", "gender": "male"}, "row 3: field 'stars' is 'so so', not one of"),
        ("no object", r"row 3:.*'no object'.*mapping"),
    ],
)
def test_a_row_that_is_wrong_is_named(folder, row, said):
    config = completed(folder, reviews(folder, [*rows_of(2), row, *rows_of(4)]))
    with pytest.raises(InputError, match=said):
        load({"reviews.jsonl": Path("reviews.jsonl")}, Reader.parse(config["datasets"]["mine"]))


def test_a_line_that_is_no_json_is_told_with_the_line_of_the_code(folder):
    config = completed(folder, reviews(folder, rows_of(4)))
    Path("reviews.jsonl").write_text('{"review": \n')
    line = next(number for number, text in enumerate(CODE[-1][0].splitlines(), 1) if "json.loads" in text)
    with pytest.raises(InputError, match=rf"parts/reviews.py, line {line}: JSONDecodeError: .*while row 1 was read"):
        load({"reviews.jsonl": Path("reviews.jsonl")}, Reader.parse(config["datasets"]["mine"]))


# Where code is, and what it depends on ---------------------------------------------------------------------------


def test_a_file_is_found_beside_the_study_and_where_the_run_begins(folder):
    completed(folder, study())
    assert own_files.path_of(LAST) == (folder / "parts/last_layer.py").resolve()
    own_files.locate(study(), [folder.parent / "elsewhere", folder])
    assert own_files.path_of(LAST) == (folder / "parts/last_layer.py").resolve()


def test_jobs_find_the_file_by_the_environment(folder):
    completed(folder, study())
    assert json.loads(os.environ[own_files.VARIABLE])[LAST] == str((folder / "parts/last_layer.py").resolve())
    os.chdir("/")
    assert own_files.class_of("explainers", LAST).__name__ == "LastLayer"


def test_the_digest_follows_the_file_and_what_it_imports_beside_itself(folder):
    path = folder / "parts/last_layer.py"
    path.write_text(path.read_text().replace("from evenlight", "from beside import number\nfrom evenlight", 1))
    (folder / "parts/beside.py").write_text("number = 1\n")
    (folder / "parts/other.py").write_text("number = 1\n")
    completed(folder, study())
    before = own_files.digest_of_class("explainers", LAST)
    (folder / "parts/other.py").write_text("number = 2\n")
    (folder / "parts/beside.py").write_text("number = 1  # as before\n")
    assert own_files.digest_of_class("explainers", LAST) == before
    (folder / "parts/beside.py").write_text("number = 2\n")
    assert own_files.digest_of_class("explainers", LAST) != before


def test_a_file_that_was_edited_is_read_again(folder):
    completed(folder, study())
    path = folder / "parts/last_layer.py"
    path.write_text(
        path.read_text().replace('"first", "all"', '"first", "all", "last"').replace('"first", d', '"last", d')
    )
    assert completed(folder, study())["explainers"]["mine"]["by"] == "last"


def test_each_class_is_a_family_and_each_key_is_checked(folder):
    said = problem(folder, explainers={"mine": {"method": LAST, "by": "frist"}})
    assert said == says("explainers.mine.by", "frist", "did you mean first?")
    said = problem(folder, explainers={"mine": {"method": LAST, "stesp": 3}})
    assert said == says("explainers.mine.stesp", "unknown key", "method, label, datasets, by")
    config = completed(folder, study(explainers={"a": {"method": LAST}, "b": {"method": CAPTUM}}))
    assert configuration.explainer_families(config) == {
        "own_last_layer_lastlayer_84fc": ["a"],
        "own_by_captum_bycaptum_4ffa": ["b"],
    }


@pytest.mark.parametrize("field", ["datasets", "label"])
@pytest.mark.parametrize("part", ["last_layer", "top_share"])
def test_a_field_has_no_meaning_beside_that_of_every_entry(folder, part, field):
    path = folder / f"parts/{part}.py"
    text = path.read_text()
    title = next(line for line in text.splitlines() if "title: ClassVar" in line)
    path.write_text(text.replace(title, f"{title}\n    {field}: int = 3\n"))
    said = problem(folder, metrics={"top": {"metric": TOP}})
    assert said == says(f"field {field}", "another")


def test_what_knows_nothing_of_the_model_is_held_against_and_not_judged(folder):
    path = folder / "parts/last_layer.py"
    text = path.read_text()
    title = next(line for line in text.splitlines() if "title: ClassVar" in line)
    path.write_text(text.replace(title, f"{title}\n    is_random: ClassVar[bool] = True\n"))
    config = study(explainers={"mine": {"method": LAST}, "grad": {"method": "saliency"}})
    config = completed(folder, config)
    assert configuration.explainers_with(config, "is_reference") == ["mine"]


def test_a_package_declares_classes(folder, monkeypatch):
    site = folder.parent / "site"
    (site / "my_package").mkdir(parents=True)
    (site / "my_package/__init__.py").write_text("")
    (site / "my_package/explaining.py").write_text(CODE[0][0])
    (site / "my_package-1.0.dist-info").mkdir()
    (site / "my_package-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (site / "my_package-1.0.dist-info/entry_points.txt").write_text(
        "[evenlight.explainers]\nlast_layer = my_package.explaining:LastLayer\n"
    )
    monkeypatch.syspath_prepend(str(site))
    own_files._declared.cache_clear()
    config = completed(folder, study(explainers={"mine": {"method": "last_layer", "by": "all"}}))
    assert configuration.explainer_families(config) == {"own_last_layer_0d3c": ["mine"]}
    before = own_files.digest_of_class("explainers", "last_layer")
    (site / "my_package/other.py").write_text("number = 1\n")
    assert own_files.digest_of_class("explainers", "last_layer") != before
    for misspelt in ("last_layr", "LastLayer"):
        assert problem(folder, explainers={"mine": {"method": misspelt}}).endswith("did you mean last_layer?")
    assert "last_layer" not in problem(folder, metrics={"top": {"metric": "last_layr"}})
    own_files._declared.cache_clear()


# In a notebook ---------------------------------------------------------------------------------------------------


def test_a_notebook_takes_a_class_or_one_with_settings(folder):
    completed(folder, study())
    last, top = (own_files.class_of(section, name) for section, name in (("explainers", LAST), ("metrics", TOP)))
    classifier = tiny_classifier("bert")
    texts = ["A good play", "A bad one"]
    by_class = evenlight.explain(classifier, texts, last, by="all")
    by_instance = evenlight.explain(classifier, texts, last(by="all"))
    for one, other in zip(by_class, by_instance, strict=True):
        np.testing.assert_array_equal(one.token_score, other.token_score)
        assert one.origin.settings == {"method": "LastLayer", "by": "all"}
    found = evenlight.score(classifier, by_class, top, tokens=2)
    for value, explanation in zip(found, by_class, strict=True):
        expected = np.sort(explanation.token_score)[-2:].sum() / explanation.token_score.sum()
        assert value == pytest.approx(expected)
    with pytest.raises(InputError, match=r"\.by: found"):
        evenlight.explain(classifier, texts, last, by="frist")
    with pytest.raises(InputError, match=r"TopShare is no evenlight\.own\.Explainer"):
        evenlight.explain(classifier, texts, top)


SEEN = []


class Counting(Explainer):
    """Says that other texts do not matter; ``of`` says what its scores are."""

    title: ClassVar[str] = "Counting"
    needs_other_texts: ClassVar[bool] = False

    of: str = "text"

    def explain(self, sentences, context):
        numbers = {
            "text": lambda place: len(sentences[place].row),
            "own draws": lambda place: generator_for(context.seed, sentences[place].item_id).random(),
            "number": lambda place: len(sentences),
            "mean length": lambda place: np.mean([len(sentence.row) for sentence in sentences]),
            "order": lambda place: place,
            "earlier calls": lambda place: SEEN.append(place) or len(SEEN),
        }
        for place, sentence in enumerate(sentences):
            yield np.full(len(sentence.row), numbers[self.of](place), dtype=float)


class Keeping(Metric):
    """Says that other texts do not matter, and counts them, where it ``keeps`` what it has seen."""

    title: ClassVar[str] = "Keeping"
    better: ClassVar[str] = "higher"
    needs_other_texts: ClassVar[bool] = False

    keeps: bool

    def score(self, explanation, evaluator):
        SEEN.append(explanation)
        return len(SEEN) if self.keeps else explanation.token_score.sum()


TEXTS = ["A good play", "A bad one", "It went on and on and on"]


@pytest.mark.parametrize("part", [Counting(of="text"), Counting(of="own draws"), Keeping(keeps=False)])
def test_who_looks_at_one_text_alone_passes(part):
    evenlight.check_alone(tiny_classifier("bert"), TEXTS, part)


@pytest.mark.parametrize(
    ("part", "how"),
    [
        *((Counting(of=of), "alone") for of in ("number", "mean length")),
        *((Counting(of=of), "in another order") for of in ("order", "earlier calls")),
        (Keeping(keeps=True), "in another order"),
    ],
)
def test_who_needs_other_texts_is_found_out(part, how):
    name = type(part).__name__
    with pytest.raises(InputError, match=rf"^{name}:.*text 0.*something else.*{how}"):
        evenlight.check_alone(tiny_classifier("bert"), TEXTS, part)


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("parts/last_layer.py:LastLayr", "LastLayr; it has LastLayer"),
        ("parts/last_layr.py:LastLayer", "parts/last_layr.py: no such file"),
        ("parts/top_share.py:TopShare", "TopShare is no evenlight.own.Explainer; begin it with"),
        ("parts/broken.py:Mine", "parts/broken.py, line 1: '(' was never closed"),
        ("parts/failing.py:Mine", "parts/failing.py, line 2: ModuleNotFoundError: No module named 'not_installed'"),
        ("parts/empty.py:Mine", "no function explain"),
        ("parts/last_layer.py", "parts/last_layer.py:Mine"),
        ("parts/ending.py:Mine", "parts/ending.py, line 1: SystemExit: 0"),
        ("parts/relative.py:Mine", "write `import name`"),
        ("parts/lime.py:Lime", "no evenlight.own.Explainer"),
        ("parts/typed.py:Mine", "size is tuple[int, int]"),
    ],
)
def test_a_class_that_cannot_be_had_is_refused_with_its_file(folder, method, said):
    (folder / "parts/broken.py").write_text("broken = (\n")
    (folder / "parts/failing.py").write_text("import json\nimport not_installed\n")
    (folder / "parts/empty.py").write_text(
        "from evenlight.own import Explainer\n\n\nclass Mine(Explainer):\n    'No.'\n"
    )
    (folder / "parts/ending.py").write_text("raise SystemExit(0)\n")
    (folder / "parts/relative.py").write_text("from . import last_layer\n")
    (folder / "parts/lime.py").write_text(
        "from evenlight.explainers.families.lime import Lime as Theirs\n\nclass Lime(Theirs):\n    'Mine.'\n"
    )
    (folder / "parts/typed.py").write_text(
        "from evenlight.own import Explainer, Field\n\nclass Mine(Explainer):\n    'Mine.'\n"
        "    size: tuple[int, int] = Field((1, 2), description='Two.')\n"
        "    def explain(self, sentences, context):\n        pass\n"
    )
    found = problem(folder, explainers={"mine": {"method": method}})
    assert found.startswith("explainers.mine.method: ")
    assert said in found
    assert REGISTRIES["explainers"].entries["lime"] is Lime


def test_two_classes_of_one_name_are_two(folder):
    (folder / "more").mkdir()
    other = CODE[0][0].replace('"first", "all"', '"all", "first"').replace('Field("first"', 'Field("all"')
    (folder / "more/last_layer.py").write_text(other)
    explainers = {"a": {"method": LAST}, "b": {"method": "more/last_layer.py:LastLayer"}}
    config = completed(folder, study(explainers=explainers))
    assert [config["explainers"][name]["by"] for name in "ab"] == ["first", "all"]
    assert len(configuration.explainer_families(config)) == 2


def test_one_name_of_two_files_is_refused(folder):
    """Beside the study and where the run begins, or in two studies that are used as modules."""
    write_examples(folder.parent)
    completed(folder, study())
    (folder.parent / "parts/last_layer.py").write_text("OTHER = 1\n")
    with pytest.raises(InputError, match=r"last_layer\.py.*parts/last_layer\.py differ"):
        completed(folder, study())
    (folder / "parts/last_layer.py").unlink()
    own_files._LOCATED.clear()
    own_files.locate(study(), [folder, Path()])
    (folder.parent / "second/parts").mkdir(parents=True)
    (folder.parent / "second/parts/last_layer.py").write_text("OTHER = 2\n")
    with pytest.raises(InputError, match="differ"):
        own_files.locate(study(), [folder.parent / "second"])


def test_files_beside_two_classes_that_have_one_name_are_refused(folder):
    (folder / "more").mkdir()
    for place, number in (("parts", 1), ("more", 2)):
        (folder / place / "beside.py").write_text(f"NUMBER = {number}\n")
        (folder / place / f"of_{place}.py").write_text(f"import beside\n{CODE[0][0]}")
    methods = {"a": {"method": "parts/of_parts.py:LastLayer"}, "b": {"method": "more/of_more.py:LastLayer"}}
    with pytest.raises(InputError, match=r"of_more\.py imports beside.*parts/beside\.py"):
        completed(folder, study(explainers=methods))


def test_a_metric_says_which_scores_are_better(folder):
    path = folder / "parts/top_share.py"
    path.write_text(path.read_text().replace('    better: ClassVar[str] = "higher"\n', ""))
    assert "better is None" in problem(folder)


OF_EXPLAINERS = {
    "yield np.zeros(len(sentence.token_id) - 1)": r"text \S+:.*shape \(\d+,\)",
    "yield np.full(len(sentence.token_id), 1j)": r"no numbers.*complex128",
    "yield np.zeros(len(sentence.token_id)); raise SystemExit(0)": r"SystemExit: 0 \(while text 2 of",
    "next(context.evaluator.classifier.network.parameters()).requires_grad_(); yield sentence.token_id": (
        "model changed"
    ),
    "yield np.full(len(sentence.token_id), np.nan)": r"text \S+:.*0.*nan.*finite",
    "yield ['a'] * len(sentence.token_id)": r"text \S+:.*no numbers",
    "pass": r"0 of \d+ texts; yield",
    "yield from [np.zeros(len(sentence.token_id))] * 20": r"scores of shape|more than",
    "raise KeyError('lost')": r"parts/wrong.py, line 9: KeyError: 'lost' \(while text 1 of \d+ was explained\)",
    "context.evaluator.classifier.network.train(); yield np.zeros(len(sentence.token_id))": "model changed",
    "next(context.evaluator.classifier.network.parameters()).data.add_(1); yield np.zeros(len(sentence.token_id))": (
        "model changed"
    ),
    "context.evaluator.classifier.network.register_forward_hook(print); yield np.zeros(len(sentence.token_id))": (
        "model changed"
    ),
}


@pytest.mark.parametrize("line", OF_EXPLAINERS)
def test_an_explainer_that_gives_no_explanation_is_refused(folder, line):
    # It yields somewhere, so that it is a generator in every case.
    (folder / "parts/wrong.py").write_text(
        "import numpy as np\nfrom evenlight.own import Explainer\n\n\nclass Wrong(Explainer):\n    'Wrong.'\n"
        f"    def explain(self, sentences, context):\n        for sentence in sentences:\n            {line}\n"
        "        yield from ()\n"
    )
    classifier = tiny_classifier("bert")
    with pytest.raises(InputError, match=OF_EXPLAINERS[line]):
        attributions(folder, {"method": "parts/wrong.py:Wrong"}, classifier, sentences_of(classifier, WORDS[:3]))


@pytest.mark.parametrize(("value", "said"), [("'a'", "found 'a'; give a number"), ("np.inf", "found inf;")])
def test_a_metric_that_gives_no_number_is_refused(folder, value, said):
    path = folder / "parts/top_share.py"
    path.write_text(path.read_text().replace("return score[", f"return {value}\n        return score["))
    config = completed(folder, study())
    [sentence, *_] = sentences_of(tiny_classifier("bert"))
    explanation = replace(explanation_of(sentence, np.ones(len(sentence.token_id))), item_id="seven")
    with pytest.raises(InputError, match=f"TopShare: text seven: {said}"):
        score(metrics.Metric.parse_all(configuration.without_labels(config["metrics"])), [explanation])


def test_an_explainer_may_fill_one_array_for_all_texts_and_change_what_it_was_given(folder):
    (folder / "parts/filling.py").write_text(
        "import numpy as np\nfrom evenlight.own import Explainer\n\n\nclass Filling(Explainer):\n    'One array.'\n"
        "    def explain(self, sentences, context):\n        array = np.zeros(100)\n"
        "        for number, sentence in enumerate(sentences):\n            array[:] = number\n"
        "            sentence.token_id[:] = 0\n            yield array[: len(sentence.token_id)]\n"
    )
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)
    before = [np.array(sentence.token_id) for sentence in sentences]
    found = attributions(folder, {"method": "parts/filling.py:Filling"}, classifier, sentences)
    assert [set(scores) for scores in found] == [{number} for number in range(len(sentences))]
    for sentence, token_id in zip(sentences, before, strict=True):
        np.testing.assert_array_equal(sentence.token_id, token_id)


def test_a_metric_may_neither_change_the_scores_nor_the_model(folder):
    path = folder / "parts/top_share.py"
    path.write_text(
        path.read_text().replace("        score = np", "        explanation.token_score[:] *= 2\n        score = np")
    )
    classifier = tiny_classifier("bert")
    [sentence, *_] = sentences_of(classifier)
    explanation = explanation_of(sentence, np.arange(1.0, 1 + len(sentence.token_id)))
    named = {"top": {"metric": TOP}, "more": {"metric": TOP, "tokens": 2, "label": "Two"}}
    settings = configuration.without_labels(completed(folder, study(metrics=named))["metrics"])
    score(metrics.Metric.parse_all(settings), [explanation])
    np.testing.assert_array_equal(explanation.token_score, np.arange(1.0, 1 + len(sentence.token_id)))
    path.write_text(
        path.read_text().replace(
            "        score = np", "        evaluator.classifier.network.train()\n        score = np"
        )
    )
    settings = configuration.without_labels(completed(folder, study(metrics=named))["metrics"])
    with pytest.raises(InputError, match="model changed"):
        score(metrics.Metric.parse_all(settings), [explanation], context_of(classifier).evaluator)


VALIDATED = """
from typing import Literal
from pydantic import field_validator
from evenlight.own import Explainer, Field

class Mine(Explainer):
    "Mine."
    size: int = Field(2, description="Even.")
    mode: str = Field("ab", pattern="^[ab]+$", description="Of a and b.")
    file: str | None = Field(None, description="A field of this name is none of an imported explanation.")
    more: dict[str, list[int]] = Field({}, description="More.")

    @field_validator("size")
    @classmethod
    def _even(cls, value):
        if value % 2:
            raise ValueError("take an even number")
        return {2: 2, 4: 4}[value]

    def explain(self, sentences, context):
        return [sentence.token_id for sentence in sentences]
"""


def test_fields_and_validators_of_ones_own_have_their_messages(folder):
    (folder / "parts/mine.py").write_text(VALIDATED)
    method = {"method": "parts/mine.py:Mine"}
    said = {
        key: problem(folder, explainers={"mine": method | {key: value}}) for key, value in (("size", 3), ("mode", "c"))
    }
    assert said["size"] == says("explainers.mine.size", "3", "even")
    assert said["mode"] == says('explainers.mine.mode: found "c"', "^[ab]+$")
    assert "KeyError: 6 (in a validator" in problem(folder, explainers={"mine": method | {"size": 6}})
    assert "found" in problem(folder, explainers={"mine": method | {"more": {"a": ["b"]}}})
    config = completed(folder, study(seeds=[0, 1], explainers={"mine": method | {"file": "one.txt"}}))
    assert config["explainers"]["mine"]["more"] == {}


def test_a_reader_says_which_files_it_reads(folder):
    """By any name; one whose name another ends with is not taken for it."""
    Path("more_reviews.jsonl").write_text("")
    config = completed(folder, reviews(folder, rows_of(20)))
    settings = config["datasets"]["mine"] | {"file": "./reviews.jsonl"}
    assert Reader.parse(settings).named_files() == ["reviews.jsonl"]
    files = named_resources(
        [Path("more_reviews.jsonl"), Path("reviews.jsonl")], ["reviews.jsonl", "more_reviews.jsonl"]
    )
    assert files == {name: Path(name) for name in ("reviews.jsonl", "more_reviews.jsonl")}
    assert len(load(files, Reader.parse(settings)).items) == 20
    path = folder / "parts/reviews.py"
    path.write_text(path.read_text().replace("return [self.file]", "return self.file"))
    completed(folder, reviews(folder, rows_of(20)))
    with pytest.raises(InputError, match=r"files\(\) gives '\./reviews\.jsonl'; give a list of paths"):
        Reader.parse(settings).named_files()


@pytest.mark.parametrize("field", ["groups", "factors", "resources"])
def test_a_field_hides_nothing_that_the_workflow_asks_a_reader(folder, field):
    path = folder / "parts/reviews.py"
    path.write_text(path.read_text().replace("    file: ", f"    {field}: str = 'x'\n    file: ", 1))
    with pytest.raises(InputError, match=f"datasets.mine.reader: .*field {field} .*another"):
        completed(folder, reviews(folder, rows_of(20)))


def test_a_study_that_was_unpacked_runs_no_code_before_it_is_trusted(folder):
    unpacked = folder.parent / "results" / "mine"
    write_examples_of_an_archive(unpacked)
    with pytest.raises(InputError, match=r"mine:.*archive.*parts/last_layer"):
        completed(unpacked, study())
    elsewhere = study(explainers={"mine": {"method": "logs/mine/last_layer.py:LastLayer"}})
    (folder.parent / "logs/mine").mkdir(parents=True)
    (unpacked / "parts/last_layer.py").rename(folder.parent / "logs/mine/last_layer.py")
    for place in (unpacked, folder):
        with pytest.raises(InputError, match="with an archive"):
            completed(place, elsewhere)
    assert not (folder.parent / "was_run").exists()
    completed(unpacked, elsewhere, trusts_archives=True)
    assert (folder.parent / "was_run").exists()


def test_code_that_came_with_an_archive_is_known_wherever_it_lies(folder):
    """Also behind a file of one's own that imports it; who edits a file makes it his own."""
    unpacked = folder.parent / "results" / "mine"
    write_examples_of_an_archive(unpacked)
    path = folder / "parts/last_layer.py"
    path.write_text((unpacked / "parts/last_layer.py").read_text())
    with pytest.raises(InputError, match=r"last_layer\.py.*archive.*--config trust_parts=true"):
        completed(folder, study())
    (folder / "parts/beside.py").write_text(path.read_text())
    path.write_text(f"import beside\n{CODE[0][0]}")
    with pytest.raises(InputError, match=r"beside\.py.*archive"):
        completed(folder, study())
    assert not (folder.parent / "was_run").exists()
    (folder / "parts/beside.py").write_text("NUMBER = 1\n")
    completed(folder, study(metrics={"gini": {"metric": "gini"}}))


def write_examples_of_an_archive(unpacked: Path) -> None:
    """As `make unpack` leaves them; the first says that it was run."""
    (unpacked / "archive").mkdir(parents=True)
    write_examples(unpacked)
    path = unpacked / "parts/last_layer.py"
    path.write_text(path.read_text() + "\nopen('was_run', 'w').close()\n")
    first = [f"{own_files.file_digest(path)}  results/mine/parts/last_layer.py"]
    (unpacked / "archive/manifest-sha256.txt").write_text("\n".join(first))
