"""The schemas of what is written for programs."""

from pathlib import Path

import jsonschema
import yaml

FOLDER = Path(__file__).parents[2] / "workflow" / "schemas"


def schema_of(name: str) -> jsonschema.Draft202012Validator:
    """What validates against ``<name>.schema.yaml``; the one of an audit refers to that of verdicts."""
    files = {each: FOLDER / f"{each}.schema.yaml" for each in (name, "verdicts")}
    documents = {each: yaml.safe_load(path.read_text(encoding="utf-8")) for each, path in files.items()}
    if name != "verdicts":
        verdicts = {"verdicts": documents["verdicts"] | {"$id": files["verdicts"].name}}
        documents[name]["$defs"] = documents[name].get("$defs", {}) | verdicts
    return jsonschema.Draft202012Validator(documents[name])
