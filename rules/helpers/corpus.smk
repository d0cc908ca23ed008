# What rules/corpus.smk asks: its settings, and which files it needs.

import shlex

CORPUS = config["corpus"]


def project_file(path):
    """A file that the configuration names: from where Snakemake was started, else of this repository."""
    return own_file(path) if Path(path).exists() or not (BASE / path).exists() else repository_file(path)


# By dotted key, the files that the corpus is made of.
CORPUS_FILES = {}


def project_files(section, key):
    """The files that a key of the corpus names, if any."""
    named = CORPUS[section][key] or []
    paths = [named] if isinstance(named, str) else named
    CORPUS_FILES[f"corpus.{section}.{key}"] = [path for path in paths if not (BASE / path).exists()]
    for path in paths:
        if Path(path).resolve().is_relative_to(Path(f"results/{config['study']}/corpus").resolve()):
            raise WorkflowError(
                f"corpus.{section}.{key}: {path} is made by the workflow, which would write over it; copy it elsewhere"
            )
    return [ancient(project_file(path)) for path in paths]


def lexicon(name):
    """A list of words of this repository."""
    return repository_file(f"resources/lexicons/{name}")


def lexicon_of_people():
    """The list of nouns that mean people."""
    return project_files("filter", "lexicon") or [lexicon("person_nouns.txt")]


def served_pages():
    """The index of the stored pages that stand in for the sites, if any."""
    folder = CORPUS["fetch"]["serve"]
    return [ancient(project_file(f"{folder}/index.jsonl"))] if folder else []


def pages_folder():
    """Where pages are kept: those of the sites apart from any that stand in for them."""
    return f"pages_{content_of(served_pages())[0][:12]}" if served_pages() else "pages"


def parser_files():
    """The files of a pipeline that the configuration names by its folder, whose change parses again."""
    folder = Path(CORPUS["parser"]["pipeline"])
    files = sorted(str(path) for pattern in ("meta.json", "*/model") for path in folder.glob(pattern))
    return [] if TREEBANK else list(map(own_file, files))


def scrape_settings(*keys):
    """Some settings of the scrape."""
    return as_json(**{key: CORPUS["scrape"][key] for key in keys})


def corpus_results():
    """What the configuration asks for of the corpus."""
    if not CORPUS:
        return []
    reviewed = ["agreement.csv", "resolved.parquet"] if CORPUS["annotation"]["files"] else []
    names = ["doubtful.csv", "filter.csv", "review.html", "label_studio/tasks.json", *reviewed]
    return [f"<results>/corpus/{name}" for name in names]


# Flags and no params, since how a site is asked changes no result.
FETCH = ""
# What the study's own parser is trained on, if it has one.
TREEBANK = []
if CORPUS:
    TREEBANK = project_files("parser", "treebank")
    asked = CORPUS["fetch"] | {"serve": str(Path(served_pages()[0]).parent) if CORPUS["fetch"]["serve"] else None}
    FETCH = shlex.join(f"--{key}={value}" for key, value in asked.items() if value is not None)
