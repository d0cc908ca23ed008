"""What explanations have cost: a record beside each attribution file, since times differ from run to run and
attribution files must not.
"""

import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from evenlight.core.contracts.explanations import COSTS
from evenlight.core.tables import write_table
from evenlight.jobs.parts import is_made_of

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


def write_cost(path: Path, digest: str, together: Sequence[str], parts: Sequence[Mapping]) -> None:
    """Write the record of one attribution file.

    Args:
        path: of the record.
        digest: of what the attribution file depends on, by which the record belongs to it.
        together: the explainers that were computed in one go, whose time this is: they share their passes.
        parts: of each part what it took, as the contract has it; none where that is not known.
    """
    table = pa.Table.from_pylist(list(parts), schema=COSTS.schema)
    write_table(table, path, COSTS, {"digest": digest, "together": list(together)})


def complete_costs(paths: Sequence[Path], digests: Mapping[str, str]) -> None:
    """Say of each attribution file without a record of its own that its cost is not known."""
    for path in paths:
        if not is_made_of(path, COSTS, digests[path.stem]):
            write_cost(path, digests[path.stem], [path.stem], [])
