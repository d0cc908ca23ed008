"""What explanations have cost: a record beside each attribution file, since times differ from run to run and
attribution files must not.
"""

import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, write_table

CPUINFO = Path("/proc/cpuinfo")


def device_used(evaluator) -> str:
    """The name of the GPU, the address of a service, or the name of the processor, also where no model is asked."""
    device = evaluator.classifier.device if evaluator else "cpu"
    if str(device).startswith("cuda"):
        # Imported where a model is on a GPU; what asks no model does without.
        return sys.modules["torch"].cuda.get_device_name(device)
    return processor() if str(device) == "cpu" else str(device)


def processor(cpuinfo: Path = CPUINFO) -> str:
    """The name of the processor, where the system tells it, else its kind."""
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())


def write_cost(path: Path, parts: Sequence[Mapping]) -> None:
    """Write the record of one attribution file.

    Args:
        path: of the record.
        parts: of each part what it took, as the contract has it; none where that is not known.
    """
    table = pa.Table.from_pylist(list(parts), schema=COSTS.schema)
    write_table(table, path, COSTS)


def cost_of_rows(path: Path, made_of: Collection[str]) -> list[dict]:
    """What a record says of the parts of which one of some rows is; nothing where there is no record.

    Such a part is told whole, as it was measured, also where others of its rows are gone.
    """
    try:
        parts = read_arrow(path, COSTS).to_pylist() if path.exists() else []
    except InputError as error:
        print(f"{path}: what rows have cost that are taken over is not known ({error})")
        return []
    rows = set(made_of)
    return [part for part in parts if not rows.isdisjoint(part["made_of"])]
