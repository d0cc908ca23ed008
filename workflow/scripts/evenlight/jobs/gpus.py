"""One GPU for each job on a machine with several.

Snakemake's resource ``gpu`` says how many jobs may use a GPU at once, but not which device is whose. So a job takes
one that no other has, before it asks the GPU anything, and holds a lock on the device's file as long as it lives. The
kernel gives the lock back however the job ends, SIGKILL included. All runs of a user on this machine share the locks.

Schedulers such as Slurm choose the devices themselves: there, and on machines with one GPU, nothing is leased.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

# The devices of this machine among which jobs share, as CUDA_VISIBLE_DEVICES lists them.
DEVICES_VARIABLE = "EVENLIGHT_GPUS"
VISIBLE = "CUDA_VISIBLE_DEVICES"
SECONDS_BETWEEN_LOOKS = 0.2

_leased: list[int] = []  # the open file of this process's device


def devices() -> list[str]:
    """The GPUs of this machine that jobs may share: those named by a variable, else all that the driver lists."""
    for variable in (DEVICES_VARIABLE, VISIBLE):
        if variable in os.environ:
            return [name.strip() for name in os.environ[variable].split(",") if name.strip()]
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    listed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return listed.stdout.split() if listed.returncode == 0 else []


def lease() -> None:
    """Take a free one of the shared devices for this process, waiting for one where all are in use.

    Must come before CUDA is asked anything, which from then on sees this device only. Where none are shared, nothing
    happens.
    """
    shared = devices() if DEVICES_VARIABLE in os.environ else []
    if not shared or _leased:
        return
    folder = Path(tempfile.gettempdir()) / f"evenlight-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    device = _taken(shared, folder)
    if device is None:
        print(f"waiting for a GPU: other jobs have {', '.join(shared)}", flush=True)
    while device is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        device = _taken(shared, folder)
    os.environ[VISIBLE] = device
    print(f"has GPU {device} of {', '.join(shared)}", flush=True)


def _taken(shared: list[str], folder: Path) -> str | None:
    for device in shared:
        file = os.open(folder / device.replace("/", "_"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        _leased.append(file)
        return device
    return None
