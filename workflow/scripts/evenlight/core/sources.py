"""Files from elsewhere: published data, where it comes from, what it must contain and how it gets here; and models.

A file's name is its path in a mirror, a folder that holds some or all of the files. What the mirror lacks is
downloaded. Nothing is accepted whose SHA-256 is not the one written here.
"""

import difflib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote, unquote

from evenlight.core.errors import InputError

MIRROR_VARIABLE = "EVENLIGHT_MIRROR"
WAITS = (1, 2, 4, 8)  # seconds between the attempts of a download
TIMEOUTS = (10, 60)  # seconds for the connection and for each answer
BLOCK = 1 << 16  # bytes
# What a model is loaded from. No other weights are: a `.bin` is a pickle, which can hold a program.
TOKENIZER_FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model")
WEIGHT_FILES = ("model*.safetensors*",)
ADAPTER_FILES = ("adapter_model.safetensors",)  # peft's
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.h5", "*.msgpack")


@dataclass(frozen=True)
class Source:
    """A file's address upstream, at a pinned commit, and the SHA-256 of its content."""

    url: str
    sha256: str


def _raw_github(repository: str, commit: str, *folder: str) -> str:
    return "/".join(["https://raw.githubusercontent.com", repository, commit, *folder])


# Text derived from Wikipedia, CC BY-SA 4.0.
GECOBENCH = ("braindatalab/gecobench", "f0907c69d95353016556a6cbd0c5fcaa76392ed9")
GECO = _raw_github(*GECOBENCH, "data/dataset")
GECO_SHA256 = {
    "binary_gender_all/train.jsonl": "2763003165719d26ef66503ef3943b782a77e4ef9741098a8e18ad1592ad0df9",
    "binary_gender_all/test.jsonl": "60f4f84ec5aa1d23eba47bec31e2e22b8c78557a2b28314549ab832d99960edd",
    "binary_gender_subj/train.jsonl": "590549986d54f2a7d5e49e2bcd66473e0ce79d53879960751c9e39395115f066",
    "binary_gender_subj/test.jsonl": "0ff41288c3691acc46a6df62a4fab407703e2c5a7a8e09f6cd71b3a679869d79",
    "non_binary_gender_all/train.jsonl": "ef1b972be4c3485027db7ead0df5dfeb4a4082e61a642c0da9d2eb7724ac8849",
    "non_binary_gender_all/test.jsonl": "08d5803e7b6aed5d3f894127a9f88b93ee3e9e35245e261444c68cb5bf57fdb6",
    "non_binary_gender_subj/train.jsonl": "ffee51c528469ab94ce4ba272065d385c2b351c84c931dd478288952c9cd7859",
    "non_binary_gender_subj/test.jsonl": "a8f8dc273edfddfb800ef98d6747de68e01c6b0c8c6dffb39a62f6cb410a393f",
}

# What GECO's annotators made, and the names that were to be drawn from.
GECO_ANNOTATION = _raw_github(*GECOBENCH, "data/dataset_generation/data")
GECO_ANNOTATION_SHA256 = {
    "merged_labelling_v2.json": "c6155b8114e0f9a93a9ab58fb12796ccc62df00cd78893681653ab24d0b82149",
    "intersection_template_Artur_v2.xlsx": "6f7839de9e0536b16d16cc2b5080203a6262891aa08ee9567e2a7dedec91b0bc",
    "intersection_template_hjalmar.xlsx": "cfab55c32ebf2287fc670c7592c4451ec2ed023fae9b413204f82745ef98712a",
    "intersection_template_rick.xlsx": "2cb6cca83d104dfb4d43ae031842c687b14cfbfedc34db90faadf88cff3608fb",
    "Top250Female1996-2019.txt": "1fb205160e6ba24d96c14b8188bf7413074b93945bfcf1395728d441408389ba",
    "Top250Male1996-2019.txt": "abeebb8349a278a1ed4649560aca6e0d870d4bcfc3ff2b7cc822062361bd0328",
    "Top250Surnames1991-2000.txt": "ae0ceff3b8bfda30af0a0ea395749244fdd9088a373e23d382812e7c39f48327",
}

# ProPublica's two-year recidivism table; public records, published with no licence file.
COMPAS = _raw_github("propublica/compas-analysis", "bafff5da3f2e45eca6c2d5055faad269defd135a")
COMPAS_SHA256 = {"compas-scores-two-years.csv": "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"}

# CC BY-SA 4.0.
CROWS_PAIRS = _raw_github("nyu-mll/crows-pairs", "8aaac11c485473159ec9328a65253a5be9a479dc", "data")
CROWS_PAIRS_SHA256 = {"crows_pairs_anonymized.csv": "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"}

# MIT licence.
WINOBIAS = _raw_github("uclanlp/corefBias", "0bce984dd081bbc10b0622f326727a024c607895", "WinoBias/wino/data")
WINOBIAS_SHA256 = {
    "anti_stereotyped_type1.txt.dev": "a4e0ebae344e78b56f657a42e8ae684b9db7747d177c5e7149c0907ebb7f3bf6",
    "anti_stereotyped_type1.txt.test": "331db5bd74bfefebf146a60b67645152a4a1991570d2a56f57154103ac361dd2",
    "anti_stereotyped_type2.txt.dev": "763ad829ad724f9a85ead689ba8ca69072020cb1238def6210f0fc6a47b97e59",
    "anti_stereotyped_type2.txt.test": "336571ac1ea8c06cd2aba8e5dd2bd98e00acc0c48da3e4ec5ec7e54eb2633a8f",
    "pro_stereotyped_type1.txt.dev": "dd55a0d220fe4c0ceb63dd4648223fb4fe1a58d5ad95c116a002ad24b0e292a5",
    "pro_stereotyped_type1.txt.test": "db7838907238a758eeb5779e48f38c013b892910d6fe864456c59f04245c6689",
    "pro_stereotyped_type2.txt.dev": "8f0250de723cea9328e3eaf7169e07936f01aa5909ce7aa580db66eb803f4e86",
    "pro_stereotyped_type2.txt.test": "ea1c1fd94fa612e3cc44d7fa3cc4cb76021bb63fdf94f9826f430051e9052438",
}

# CC BY 4.0.
CEBAB = _raw_github("CEBaBing/CEBaB", "40e68518fe66a3b5e53b52741c5b180c8a096295")
CEBAB_SHA256 = {"CEBaB-v1.1.zip": "afe8ebcb5d18f33297512cd5c7e05f1590b82fb0683367042454c3eda7d5c6ae"}

# CC BY 4.0.
HATECHECK = _raw_github("paul-rottger/hatecheck-data", "d84302298ceeb34f4b0dde2d8a1f4932c2caa612")
HATECHECK_SHA256 = {"test_suite_cases.csv": "ecf0dc1e93fccc90b6f880e632b19e635c0f0a68b3157915a9e20b6938f121cf"}

# CC BY 4.0.
MULTILINGUAL_HATECHECK = _raw_github(
    "rewire-online/multilingual-hatecheck", "a03f2caf2023a402d85064bda243e46d280408f0", "MHC%20Final%20Cases"
)
MULTILINGUAL_HATECHECK_SHA256 = {
    "hatecheck_cases_final_arabic.csv": "134d39c3b691801e24ab53fb14d3214fea69eb2b3c5288b3f00e31ca0ece1bee",
    "hatecheck_cases_final_dutch.csv": "df67042194bf33837e77126aa994e01201d84edec8f0b46acec8fed0322d595d",
    "hatecheck_cases_final_french.csv": "17cc2c7ec01ad28c31c1c53bbda8c7245b83e86d34017327964956ace1446586",
    "hatecheck_cases_final_german.csv": "ecdef4611b877120d0a8feec9c0cd0dfc1efec7ead4bbd62eaf32f6cc80d2ee0",
    "hatecheck_cases_final_hindi.csv": "ffebc31db02d59f603ac9728aa9b63d7db46de2cdc4c54468aabab82e5d8bd40",
    "hatecheck_cases_final_italian.csv": "5339cd1e0d6e338c7ae9b831e74d653d6216a25120214d92b5d98d25a1c20674",
    "hatecheck_cases_final_mandarin.csv": "d094336d73fb3b2817a04cac226687fcf91cb914deccd4d4096a85cf4a147414",
    "hatecheck_cases_final_polish.csv": "88b8f9cfe4484f2e7543a7b28983b10f5942f04cc87c904c653a01318b7d1c04",
    "hatecheck_cases_final_portuguese.csv": "839bcd08e59efb9a659ab3c7e82022844a57ae5babe705323a7956d2d9461ea8",
    "hatecheck_cases_final_spanish.csv": "20d2388f4f3bafe744010a42f1ce7ddd5b2b09efa978fb0d8a0fc810487948aa",
}

SOURCES = {
    f"{folder}/{path}": Source(f"{address}/{path}", sha256)
    for folder, address, digests in (
        ("geco", GECO, GECO_SHA256),
        ("geco_annotation", GECO_ANNOTATION, GECO_ANNOTATION_SHA256),
        ("compas", COMPAS, COMPAS_SHA256),
        ("crows_pairs", CROWS_PAIRS, CROWS_PAIRS_SHA256),
        ("winobias", WINOBIAS, WINOBIAS_SHA256),
        ("cebab", CEBAB, CEBAB_SHA256),
        ("hatecheck", HATECHECK, HATECHECK_SHA256),
        ("multilingual_hatecheck", MULTILINGUAL_HATECHECK, MULTILINGUAL_HATECHECK_SHA256),
    )
    for path, sha256 in digests.items()
}


# What begins the name of a file that a study names by its address: name, SHA-256 and address are one.
ADDRESSED = "at"


def addressed(url: str, sha256: str) -> str:
    """The name of a file that a study names by its address and SHA-256, under which it lies like any other source.

    >>> addressed("https://host/a/answers.csv", "0f")
    'at/0f/https%3A%2F%2Fhost%2Fa%2Fanswers.csv'
    """
    return f"{ADDRESSED}/{sha256}/{quote(url, safe='')}"


def source(name: str) -> Source | None:
    """Where the file of a name comes from and what it must contain; None of an unknown name.

    >>> source(addressed("https://host/a/answers.csv", "0f"))
    Source(url='https://host/a/answers.csv', sha256='0f')
    """
    folder, _, rest = name.partition("/")
    sha256, _, url = rest.partition("/")
    return Source(unquote(url), sha256) if folder == ADDRESSED and url else SOURCES.get(name)


def is_address(path: str) -> bool:
    """Whether what names a file is no path."""
    return path.startswith(("https://", "http://"))


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def missing(path: str | Path) -> str:
    """What is said of a path with nothing there: the nearest name beside the first part of it that is missing.

    >>> missing("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no; paths begin where Snakemake is started'
    """
    said = nearest(path)
    return f"{said}{'' if said.endswith('?') else ';'} paths begin where Snakemake is started"


def nearest(path: str | Path) -> str:
    """The first part of that: which path is not there, and which may have been meant.

    >>> nearest("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no'
    """
    absent = next(part for part in (*reversed(Path(path).parents), Path(path)) if not part.exists())
    near = get_close_matches(absent.name, [other.name for other in absent.parent.iterdir()], n=1)
    if near:
        return f"{path}: no such file; did you mean {absent.with_name(near[0])}?"
    return f"{path}: no such file" + ("" if absent == Path(path) else f", since there is no {absent}")


def is_missing_folder(source: str) -> bool:
    """Whether a source can only be a path, since the hub has no such names, and there is no such folder.

    >>> is_missing_folder("/no/such/folder"), is_missing_folder("./none"), is_missing_folder("organisation/model")
    (True, True, False)
    >>> is_missing_folder("my/models/first"), is_missing_folder("models/"), is_missing_folder("model")
    (True, True, False)
    """
    is_path = source.startswith(("/", ".", "~")) or source.endswith("/") or source.count("/") > 1
    return is_path and not Path(source).is_dir()


def nearest_folder(source: str) -> str | None:
    """The folder whose path is nearest to one that is not there, as it would be written; None where none is near."""
    path = Path(source)
    there = next((parent for parent in path.parents if parent.is_dir()), None)
    if there is None:
        return None
    wrong, *below = path.relative_to(there).parts
    names = [each.name for each in there.iterdir() if each.is_dir() and not each.name.startswith(".")]
    for name in difflib.get_close_matches(wrong, names):
        if (near := Path(there, name, *below)).is_dir():
            return str(near)
    return None


def transformers_files(folder: str | Path) -> list[Path]:
    """The files in a folder that its model is loaded from, by name; none where there is no such folder."""
    return sorted({*_of_patterns(folder, WEIGHT_FILES), *tokenizer_files(folder)})


def tokenizer_files(folder: str | Path) -> list[Path]:
    """Those that its tokenizer is loaded from, alike."""
    return sorted(_of_patterns(folder, ("config.json", *TOKENIZER_FILES)))


def adapter_files(folder: str | Path) -> list[Path]:
    """The files in a folder that an adapter is loaded from, by name; none where there is no such folder."""
    return sorted(_of_patterns(folder, ("adapter_config.json", *ADAPTER_FILES)))


def _of_patterns(folder: str | Path, patterns: Iterable[str]) -> set[Path]:
    return {path for pattern in patterns for path in Path(folder).glob(pattern)}


def check_no_pickle(source: str, weights: Sequence[str]) -> None:
    """Refuse a folder whose only weights are of a kind that can hold a program.

    Args:
        source: folder, or hub id, of which nothing is known here.
        weights: patterns of the weights that are read.

    Raises:
        InputError: naming the file and how to convert it.
    """
    folder = Path(source)
    if not folder.is_dir() or _of_patterns(folder, weights):
        return
    if pickles := sorted(_of_patterns(folder, PICKLES) - set(folder.glob("training_args.bin"))):
        raise InputError(f"{pickles[0]}: {convert(source)}")


def convert(source: str | Path) -> str:
    """Why such weights are not read, and what to do."""
    return (
        "weights are read as safetensors only, since a file of another kind can hold a program; where you trust its "
        f"author, convert it: python {tool('convert_weights.py')} {source} NEW_FOLDER"
    )


def tool(name: str) -> str:
    """Where a command of ``workflow/tools`` is, from where the run was started; a library alone has none of them."""
    path = Path(__file__).parents[3] / "tools" / name
    if not path.is_file():
        return f"workflow/tools/{name} (of Evenlight's repository)"
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def mirror_folder(named: str | Path | None = None) -> Path | None:
    """The mirror that is ``named`` or, failing that, the one of the environment variable ``EVENLIGHT_MIRROR``."""
    folder = named or os.environ.get(MIRROR_VARIABLE)
    if not folder:
        return None
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: the mirror is not a folder; name an existing one with --mirror or {MIRROR_VARIABLE}, "
            "or leave both away to download the data"
        )
    return folder


def refuse_changed(name: str, path: str | Path) -> None:
    """Refuse a fetched file that is no longer what was fetched."""
    remedy = "delete it and run the workflow again, rule fetch_source makes it"
    _check_digest(Path(path), source(name).sha256, path, remedy)


def fetch(name: str, output: str | Path, mirror: Path | None = None, waits: Sequence[float] = WAITS) -> None:
    """Write the file ``name`` of :data:`SOURCES` to ``output``, from ``mirror`` if it is there, else by download.

    ``waits`` are the seconds before each further attempt of a download. The output appears only when it is
    complete and its SHA-256 is right.
    """
    # Here and not above, so that the Snakefile can read the registry without loading pandas.
    from evenlight.core.tables import replacing

    if (found := source(name)) is None:
        raise InputError(f"source '{name}' is unknown; known sources: {', '.join(SOURCES)}")
    mirrored = mirror / name if mirror else None
    with replacing(output) as temporary:
        if mirrored and mirrored.is_file():
            shutil.copyfile(mirrored, temporary)
            remedy = "delete it there to have it downloaded, or replace it by the published file"
            _check_digest(temporary, found.sha256, mirrored, remedy)
        else:
            destination = mirrored or f"<folder>/{name} and name that folder with --mirror or {MIRROR_VARIABLE}"
            remedy = f"check the network, or place the file at {destination}"
            _download(found.url, temporary, remedy, waits)
            _check_digest(temporary, found.sha256, found.url, "something on the way changed the file; " + remedy)


def _check_digest(path: Path, expected: str, origin: str | Path, remedy: str) -> None:
    actual = digest(path)
    if actual != expected:
        raise InputError(f"{origin}: wrong checksum: SHA-256 should be {expected}, found {actual}; {remedy}")


def _download(url: str, path: Path, remedy: str, waits: Sequence[float]) -> None:
    """Download ``url`` into ``path``; failures that may pass are tried again after each of ``waits``."""
    import requests

    for wait in (*waits, None):
        try:
            return _download_once(url, path)
        except requests.RequestException as error:
            if wait is None or not _may_pass(error):
                raise InputError(f"{url}: cannot be downloaded ({_reason(error)}); {remedy}") from None
            print(f"{url}: {_reason(error)}; next attempt in {wait} s", file=sys.stderr)
            time.sleep(wait)


def _download_once(url: str, path: Path) -> None:
    """One attempt; ``requests`` raises an error when the body ends before its announced length."""
    import requests
    from tqdm import tqdm

    # Uncompressed, so that the announced length is that of the file and the progress is true.
    with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=TIMEOUTS) as response:
        response.raise_for_status()
        length = int(response.headers.get("Content-Length", 0)) or None
        progress = tqdm(total=length, unit="B", unit_scale=True, desc=url.rsplit("/", 1)[-1], mininterval=1)
        with progress, open(path, "wb") as file:
            for block in response.iter_content(BLOCK):
                file.write(block)
                progress.update(len(block))


def _reason(error: Exception) -> str:
    """What went wrong, without the wrapping that repeats the address."""
    return str(getattr(error.args[0], "reason", error) if error.args else error)


def _may_pass(error: Exception) -> bool:
    """Whether another attempt may end better: no answer, a broken one, or a server that is busy or down."""
    status = getattr(error.response, "status_code", None)
    return status is None or status == 429 or status >= 500
