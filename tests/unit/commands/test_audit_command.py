"""``evenlight audit``: the study of an audit, proposed from a table and a model's files; and what cannot be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hub_stand_in import running_hub
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

from evenlight import configuration
from evenlight.__main__ import main
from evenlight.commands import audit, proposal
from evenlight.commands.proposal import Asked, proposed
from evenlight.core.errors import InputError
from evenlight.models.published import published
from evenlight.statistics.analyses.audit_changes import digests_of
from evenlight.texts.splitting import split_words

WORDS = ["the", "room", "was", "clean", "and", "staff", "brought", "our", "bags", "again"]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with a model whose labels are bad and good, in which commands start."""
    monkeypatch.chdir(tmp_path)
    write_model("model", {"0": "bad", "1": "good"})
    return tmp_path


def write_model(name: str, id2label: dict | None, **more) -> None:
    Path(name).mkdir()
    config = {"architectures": ["BertForSequenceClassification"], **more} | ({"id2label": id2label} if id2label else {})
    Path(name, "config.json").write_text(json.dumps(config), encoding="utf-8")


def reviews(size: int = 12) -> pd.DataFrame:
    """Reviews of women and men, good and bad ones, no two alike."""
    return pd.DataFrame(
        {
            "customer": [f"c{place}" for place in range(size)],
            "review": [" ".join([*WORDS[place % 5 :], f"{place} times"]) for place in range(size)],
            "rating": [("good", "bad")[place % 2] for place in range(size)],
            "gender": [("women", "men")[place // 2 % 2] for place in range(size)],
        }
    )


def write(table: pd.DataFrame, name: str = "reviews.csv", **options) -> str:
    table.to_csv(name, index=False, **options)
    return name


def test_columns_are_guessed_said_and_written_as_a_study_that_can_be_read(here, monkeypatch, capsys):
    write(reviews())
    monkeypatch.setattr(
        sys, "argv", ["evenlight", "audit", "--model", "model", "--texts", "reviews.csv", "--write-only"]
    )
    main()
    said = capsys.readouterr().out
    assert all(f"guessed: --{flag}" in said for flag in ("text 'review'", "label 'rating'", "groups 'gender'"))
    text = Path("audit_reviews.yaml").read_text(encoding="utf-8")
    assert "# guessed: --text 'review'" in text
    study = yaml.safe_load(text)
    assert study == {
        "study": "audit_reviews",
        "datasets": {
            "reviews": {
                "reader": "table",
                "file": "reviews.csv",
                "text": "review",
                "label": "rating",
                "classes": ["bad", "good"],
                "attributes": {"gender": {"column": "gender", "levels": ["women", "men"]}},
            }
        },
        "models": {"model": {"architecture": "trained", "source": "model"}},
        "statistics": {"compare": {"gender": [["women", "men"]]}},
    }
    assert configuration.complete(study)["datasets"]["reviews"]["text"] == "review"


def test_the_next_audit_has_the_names_of_the_last_one(here, monkeypatch):
    """Comparisons are found again by their names, whatever the files of this month are called."""
    write(reviews(), "december.csv")
    row = dict.fromkeys(["explainer", "metric", "factor", "level_a", "level_b", "verdict", "unit", "margin"])
    row |= dict.fromkeys(["wins", "losses", "ties", "share", "units_a", "units_b", "low", "high"])
    told = {"study": "november", "frame": [], "audited": {}, "judged": {"confidence": 0.95}}
    told["comparisons"] = [row | {"dataset": "reviews", "model": "ours"}]
    words = reviews()["review"].map(split_words)
    items = pd.DataFrame({"item_id": words.index, "cluster": words.index, "words": words, "part": None})
    judged = digests_of(items)["digest"]

    def next_audit(known: pd.Series):
        Path("filed.json").write_text(json.dumps(told | {"texts": {"reviews": list(known)}}), encoding="utf-8")
        return proposed(Asked("december.csv", "model", baseline="filed.json"))

    study = next_audit(judged[:0]).study
    assert (study["study"], list(study["datasets"]), list(study["models"])) == ("audit_december", ["reviews"], ["ours"])
    assert configuration.complete(study)["audit"]["baseline"] == "filed.json"
    counted = f"by {len(judged) - 3} of {len(judged)} texts"
    assert any(counted in note for note in next_audit(judged[:3]).notes)
    with pytest.raises(InputError, match=r"--baseline filed.json: .* new texts alone"):
        next_audit(judged)
    with pytest.raises(InputError, match=r"audit\.baseline: none\.json: cannot be read"):
        proposed(Asked("december.csv", "model", baseline="none.json"))


def test_groups_that_are_too_small_for_a_verdict_are_told(here):
    texts = reviews(200)
    women = texts["gender"] == "women"
    for table, said in ((texts, 0), (texts[~women | (women.cumsum() <= 49)], 1)):
        notes = proposed(Asked(write(table), "model")).notes
        found = [note for note in notes if "50 texts of each group" in note]
        assert len(found) == said
        assert all("women (49)" in note and "men (" not in note.replace("women (", "") for note in found)


@pytest.mark.parametrize(("pairs", "copies", "told"), [(5, False, "5"), (40, False, ""), (40, True, "5")])
def test_too_few_pairs_for_a_verdict_are_told(here, pairs, copies, told):
    """Pairs with the same text are one cluster, and have one vote."""
    rows = [
        {"review": f"{who} brought {pair % 5 if copies else pair} bags", "gender": group, "number": pair}
        for pair in range(pairs)
        for who, group in (("She", "women"), ("He", "men"))
    ]
    table = pd.DataFrame(rows).assign(rating=[("good", "bad")[row // 2 % 5 % 2] for row in range(2 * pairs)])
    notes = proposed(Asked(write(table), "model", pair="number", groups=["gender"])).notes
    found = [note for note in notes if "independent pairs of women and men" in note]
    assert [note.split()[1] for note in found] == ([told] if told else [])


def test_no_file_is_overwritten_and_no_results_are_taken_for_others(here, monkeypatch):
    write(reviews())
    flags = ["evenlight", "audit", "--model", "model", "--texts", "reviews.csv", "--write-only"]
    Path("mine.yaml").write_text("mine")
    Path("results", "other").mkdir(parents=True)
    for more, named in ((["--output", "mine.yaml"], "mine.yaml"), (["--study", "other"], "results/other")):
        monkeypatch.setattr(sys, "argv", flags + more)
        with pytest.raises(SystemExit, match=named):
            main()
    assert Path("mine.yaml").read_text() == "mine"
    assert not Path("other.yaml").exists()


def test_the_study_runs_as_the_documentation_runs_one(here, monkeypatch):
    write(reviews())
    Path("Snakefile").touch()
    started = []
    monkeypatch.setattr(audit, "start", lambda run: started.append(run) or 7)
    monkeypatch.setattr(
        sys, "argv", ["evenlight", "audit", "--model", "model", "--texts", "reviews.csv", "--cores", "2"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 7
    assert started == [["snakemake", "--cores", "2", "audit", "--configfile", "audit_reviews.yaml"]]


def test_nothing_is_written_where_no_workflow_is(here, monkeypatch):
    write(reviews())
    monkeypatch.setattr(sys, "argv", ["evenlight", "audit", "--model", "model", "--texts", "reviews.csv"])
    with pytest.raises(SystemExit, match="Snakefile"):
        main()
    assert not list(Path().glob("*.yaml"))


def test_where_the_workflow_is_not_installed_the_remedy_is_said(here, monkeypatch):
    """As after `pip install .` alone, which brings what `judge` needs."""
    monkeypatch.setitem(sys.modules, "evenlight.commands.proposal", None)
    monkeypatch.setattr(sys, "argv", ["evenlight", "audit", "--model", "model", "--texts", write(reviews())])
    with pytest.raises(SystemExit, match=r"is not installed.*make \.venv/ready"):
        main()


def test_variants_of_a_text_are_a_pair_and_running_numbers_are_none(here):
    table = reviews(8).assign(number=[place // 2 for place in range(8)])
    table["gender"] = ["women", "men"] * 4
    table["review"] = [
        f"{who} brought {place} of our bags up the stairs" for place in range(4) for who in ("She", "He")
    ]
    table["rating"] = [("good", "bad")[place // 2 % 2] for place in range(8)]
    asked = Asked(write(table), "model", groups=["gender"])
    assert proposed(asked).study["datasets"]["reviews"]["pair"] == "number"
    # The same numbers beside texts that have nothing in common are no pairs.
    words = [f"{letter}one {letter}two {letter}three {letter}four" for letter in "abcdefgh"]
    asked = Asked(write(table.assign(review=words)), "model", groups=["gender"])
    assert "pair" not in proposed(asked).study["datasets"]["reviews"]


def test_labels_without_names_and_classes_that_no_text_has_keep_their_place(here):
    write_model("numbered", None, num_labels=3)
    table = reviews().assign(rating=[place % 2 for place in range(12)])
    found = proposed(Asked(write(table), "numbered")).study
    assert found["datasets"]["reviews"]["classes"] == ["0", "1", "LABEL_2"]
    assert found["models"]["numbered"]["classes"] == {"0": "LABEL_0", "1": "LABEL_1", "LABEL_2": "LABEL_2"}


def test_of_labels_that_do_not_exclude_each_other_one_is_held_against_its_absence(here):
    write_model("tags", {"0": "threat", "1": "good"}, problem_type="multi_label_classification")
    found = proposed(Asked(write(reviews()), "tags")).study
    assert found["models"]["tags"]["classes"] == {"bad": None, "good": "good"}
    assert found["datasets"]["reviews"]["classes"] == ["bad", "good"]


def test_a_tokenizer_without_a_mask_gets_the_end_of_a_text(here):
    write_model("decoder", {"0": "bad", "1": "good"})
    Path("decoder", "tokenizer.json").write_text(json.dumps({"added_tokens": [{"content": "<end>"}]}))
    Path("decoder", "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>", "pad_token": "<end>"}))
    assert published("decoder").special_tokens == {"mask": "<end>"}
    Path("decoder", "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>", "mask_token": "<m>"}))
    assert published("decoder").special_tokens == {}


@pytest.mark.parametrize(
    ("positions", "words", "settings"),
    [
        (512, 20, {}),
        (512, 200, {"max_tokens": 202}),
        (100, 20, {"max_tokens": 100}),
        (150, 200, {"max_tokens": 150, "long_items": "drop"}),
    ],
)
def test_texts_are_read_as_long_as_the_model_reads_and_what_is_left_out_is_said(here, positions, words, settings):
    write_model("long", {"0": "bad", "1": "good"}, max_position_embeddings=positions)
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    tokenizer.enable_truncation(64)
    tokenizer.save("long/tokenizer.json")
    table = reviews()
    table.loc[5, "review"] = " ".join(["bags"] * words)
    found = proposed(Asked(write(table), "long", groups=["gender"], text="review"))
    assert found.study["models"]["long"] == {"architecture": "trained", "source": "long"} | settings
    assert any("1 of 12 texts" in line for line in found.said) == ("long_items" in settings)


def test_of_a_large_table_some_texts_are_explained(here, monkeypatch):
    monkeypatch.setattr(proposal, "MOST_EXPLAINED", 10)
    found = proposed(Asked(write(reviews()), "model"))
    assert found.study["explain"] == {"pairs": 10}
    assert any("explain.pairs" in line and "12" in line for line in found.said)


def test_a_model_on_the_hub_is_looked_at_by_its_small_files(here):
    write_model("hubbed", {"0": "bad", "1": "good"}, max_position_embeddings=514)
    Path("hubbed", "tokenizer_config.json").write_text('{"model_max_length": 512}')
    code = (
        "from evenlight.core.errors import InputError\nfrom evenlight.models.published import published\n"
        "print(published('someone/hubbed', 'main'))\n"
        "try:\n    published('someone/none', 'main')\nexcept InputError as error:\n    print(error)"
    )
    with running_hub() as hub:
        hub.add("someone/hubbed", Path("hubbed"))
        home = {"HF_ENDPOINT": hub.address, "HF_HOME": str(here / "home")}
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | home, capture_output=True, text=True, check=True
        )
    found, refused = done.stdout.splitlines()
    assert "labels=['bad', 'good'], excluding=True, special_tokens={}, limit=512, tokenizer=None" in found
    assert "someone/none" in refused
    assert "none of this name" in refused


def test_levels_with_the_sign_that_joins_levels_are_called_otherwise(here):
    table = reviews().assign(age=["55+", "54-"] * 6)
    asked = Asked(write(table), "model", groups=["age", "gender"], label="rating")
    study = proposed(asked).study
    assert study["datasets"]["reviews"]["attributes"]["age"]["levels"] == {"55+": "55 and more", "54-": "54-"}
    assert study["statistics"]["compare"] == {"age": [["55 and more", "54-"]], "gender": [["women", "men"]]}


def broken_tables() -> dict[str, tuple]:
    """What a table is broken by: how it is written, the flags, and what the message must name."""
    good = reviews()

    def changed(column: str, row: int, value: str) -> pd.DataFrame:
        table = good.copy()
        table.loc[row, column] = value
        return table

    return {
        "no such column": (good, {"text": "body"}, ["'body'", "customer, review, rating, gender"]),
        "no class": (changed("rating", 3, "god"), {}, ["'rating'", "'god' (1 row)", "bad, good", "--classes"]),
        "group of one text": (
            changed("gender", 3, "other"),
            {"groups": ["gender"]},
            ["'gender'", "'other'", "--compare"],
        ),
        "empty text": (changed("review", 3, ""), {"text": "review"}, ["row 5", "'review'", "correct the table"]),
        "identifier twice": (changed("customer", 3, "c1"), {"item": "customer"}, ["'customer'", "'c1'", "2 rows"]),
        "numbers as texts": (good.assign(n=range(12)), {"text": "n"}, ["'n'", "numbers", "name the column"]),
        "too many groups": (good, {"groups": ["customer"]}, ["'customer'", "12 different values", "at most 10"]),
        "one group": (good.assign(gender="men"), {"groups": ["gender"]}, ["'gender'", "one group"]),
        "one class": (good.assign(rating="good"), {"label": "rating"}, ["'rating'", "one class"]),
        "no texts": (good.drop(columns="review"), {}, ["--text", "'customer': 'c0', 'c1'"]),
        "two columns of texts": (good.assign(reply=good["review"]), {}, ["'review', 'reply'", "--text"]),
        "no such group": (good, {"compare": [["women", "man"]]}, ["man", "did you mean men"]),
        "no rows": (good.iloc[:0], {}, ["no rows"]),
    }


@pytest.mark.parametrize("fault", broken_tables())
def test_a_broken_table_is_refused_with_file_field_and_remedy(here, fault):
    table, flags, named = broken_tables()[fault]
    with pytest.raises(InputError) as refused:
        proposed(Asked(write(table), "model", **flags))
    said = str(refused.value)
    assert all(part in said for part in ["reviews.csv" * ("compare" not in flags), *named]), said
    assert [path.name for path in here.iterdir() if path.suffix] == ["reviews.csv"]


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("reviews.csv", reviews().to_csv(index=False, sep=";").encode(), ["';'", "commas"]),
        ("reviews.csv", reviews().assign(gender="Männer").to_csv(index=False).encode("cp1252"), ["UTF-8", "iconv"]),
        ("reviews.csv", b"review,rating,gender\nhalf \xed\xa0\xbd of it,good,men\n", ["UTF-8"]),
        ("reviews.csv", b"review,rating,gender\na b c,good,men,more\n", ["row 2", "4 values"]),
        ("reviews.xlsx", b"PK\x03\x04", [".csv", "save the table"]),
        ("reviews.csv", b"", ["empty"]),
    ],
)
def test_a_file_that_is_no_table_is_refused(here, name, content, named):
    Path(name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        proposed(Asked(name, "model", groups=["gender"] if b";" not in content else []))
    assert all(part in str(refused.value) for part in [name, *named]), refused.value


def test_what_is_no_file_is_refused_with_what_may_be_meant(here):
    write(reviews())
    Path("folder.csv").mkdir()
    for name, named in (("review.csv", "did you mean reviews.csv"), ("folder.csv", "is a folder")):
        with pytest.raises(InputError, match=named):
            proposed(Asked(name, "model"))


def test_half_a_character_in_parquet_is_refused_or_never_written(here):
    """What no file can hold is no text; pyarrow writes none."""
    with pytest.raises(UnicodeEncodeError):
        reviews().assign(review="half \ud83d").to_parquet("reviews.parquet")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("./modle", "no such folder"),
        ("adapter", "adapter_config.json"),
        ("none", "config.json"),
        ("writer", "LlamaForCausalLM"),
        ("numbers", "predicts numbers"),
        ("gap", "id2label"),
    ],
)
def test_a_folder_without_a_classifier_is_refused(here, model, named):
    write_model("adapter", None)
    Path("adapter", "adapter_config.json").touch()
    Path("none").mkdir()
    write_model("writer", None)
    Path("writer", "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    write_model("numbers", {"0": "score"}, problem_type="regression")
    write_model("gap", {"1": "bad", "2": "good"})
    with pytest.raises(InputError, match=named) as refused:
        published(model)
    assert model in str(refused.value)


def test_a_proposal_loads_no_torch(here):
    write(reviews())
    code = (
        "import sys\nfrom evenlight.commands.proposal import Asked, proposed\nproposed(Asked('reviews.csv', 'model'))\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
