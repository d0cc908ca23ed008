"""A configuration whose texts are commands for a shell: they are read as texts, and none of them is run."""

import csv
import re
import shlex
import subprocess

from running import SMALLER, configure, copy_of_project, edited, environment, run_study, snakemake

HOSTILE = 'a\'; touch run_1; "$(touch run_2)" `touch run_3` | touch run_4 & #'
# Which Snakemake and Python's format would fill in, and a page would run.
OTHER = "b'$(touch run_5) {input} {{x}} {}</script><script>"


def test_no_text_of_a_configuration_is_run(tmp_path):
    table = f"data/{HOSTILE}.csv"
    dataset = {
        "reader": "table",
        "file": table,
        "text": HOSTILE,
        "label": "class",
        "classes": [HOSTILE, OTHER],
        "attributes": {"gender": {"column": OTHER, "levels": ["male", "female"]}},
    }
    study = edited(SMALLER, "datasets", value={"demo": dataset})
    study = edited(study, "explainers", "lime", "label", value=HOSTILE)
    project = copy_of_project(tmp_path / "project", study)
    (project / "data").mkdir()
    with open(project / table, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([HOSTILE, OTHER, "class"])
        for number in range(40):
            who, level = ("He", "male") if number % 2 else ("She", "female")
            writer.writerow([f"{who} waits {number}", level, (HOSTILE, OTHER)[number // 2 % 2]])
    stdout = run_study(project, "--dry-run", "--printshellcmds")
    commands = re.findall(r"^(?: *[Ss]hell command: *)? *(python workflow/.*)$", stdout, re.MULTILINE)
    assert len(commands) > 10
    hostile = [command for command in commands if "touch" in command]
    assert hostile
    for command in hostile:
        # As the shell reads it, every such text lies within one word.
        assert not any(word.startswith("touch") for word in shlex.split(command))
        assert "<" not in command
        assert subprocess.run(["bash", "-n", "-c", command], env=environment()).returncode == 0
    run_study(project, "--until", "import_dataset", cores=1)
    assert (project / "results/tiny/datasets/demo/items.parquet").is_file()
    assert list(project.rglob("run_*")) == []
    # A path stands in commands as it is, and these in the report: one with markup is refused.
    (project / "data" / "<b>.csv").write_bytes((project / table).read_bytes())
    configure(project, edited(study, "datasets", "demo", "file", value="data/<b>.csv"))
    refused = snakemake(project, "--dry-run")
    assert refused.returncode != 0
    assert "data/<b>.csv: its name has < and >; rename the file" in refused.stdout
