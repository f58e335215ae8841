"""Slurm for one test: controller and one node of two processors on free loopback ports, with keys and files of their own in a
directory, stopped by their process ids."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")

CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def installed() -> bool:
    return all(_program(name) for name in PROGRAMS)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextlib.contextmanager
def cluster(place: Path) -> Iterator[dict[str, str]]:
    """What the environment of its commands has more."""
    for name in ("", "state", "spool"):
        (place / name).mkdir(mode=0o700)
    (place / "munge.key").write_bytes(os.urandom(128))
    (place / "munge.key").chmod(0o600)
    controller, node = _free_ports(2)
    text = CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], place=place, user=getpass.getuser(), controller=controller, node=node
    )
    (place / "slurm.conf").write_text(text)
    more = {"SLURM_CONF": str(place / "slurm.conf")}
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> None:
            with open(place / f"{command[0]}.log", "wb") as log:
                process = subprocess.Popen([str(_program(command[0])), *command[1:]], env={**os.environ, **more}, stdout=log, stderr=log)
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)

        munge = [f"--{what}={place}/munge.{end}" for what, end in
                 (("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]  # fmt: skip
        start("munged", "--force", "--foreground", *munge)
        _until(lambda: (place / "munge.socket").exists(), place)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        _until(lambda: b"idle" in subprocess.run([str(_program("sinfo"))], env={**os.environ, **more}, capture_output=True).stdout, place)
        yield more


def _until(there: object, place: Path) -> None:
    for _ in range(600):
        if there():  # type: ignore[operator]
            return
        time.sleep(0.1)
    raise RuntimeError("Slurm does not start: " + " | ".join(log.read_text()[-500:] for log in place.glob("*.log")))
