"""The folder of a study: a results file a run, NAME.h5, and what belongs to it.

    NAME.h5          results          runs/NAME.toml   options of the run: it is planned
    logs/NAME.log    what it said     jobs/            scripts for Slurm, and which jobs they became
    aside/           results of runs that were made again       study.json   the plan, for plots
"""
import contextlib
import fcntl
import json
import math
import os
import pathlib
import socket

import h5py

from .faults import Fault

OVER = ("finished", "diverged")  # a run that diverged is a result, too


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's strings are TOML's but for DEL
    return repr(value)


def write_aside(path, content):
    """Whole or not at all, and only where it changes."""
    if path.exists() and path.read_text(encoding="utf-8") == content:
        return
    aside = path.with_name(f".{path.name}.part")
    aside.write_text(content, encoding="utf-8")
    os.replace(aside, path)


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def results(self, run):
        return self.path / f"{run.name}.h5"

    def config(self, run):
        return self.path / "runs" / f"{run.name}.toml"

    def log(self, run):
        return self.path / "logs" / f"{run.name}.log"

    def has_checkpoint(self, run):
        return any(pathlib.Path(f"{self.results(run)}.ckpt").glob("step-*.h5"))

    def status(self, run):
        """missing, damaged, or what the results say: running, finished, diverged, stopped, failed."""
        path = self.results(run)
        if not path.exists():
            return "missing"
        try:
            with h5py.File(path, "r") as file:
                return str(file.attrs["status"])
        except (OSError, KeyError):
            return "damaged"

    def measure(self, run, name):
        """Of the summary of a run that is over, NaN if it is not known; None: it is not over."""
        if self.status(run) not in OVER:
            return None
        with h5py.File(self.results(run), "r") as file:
            return float(file["summary"].attrs.get(name, math.nan))

    def is_locked(self):
        """Whether a jobs/study is running or submitting just now."""
        try:
            with open(self.path / "jobs" / "lock", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # no such file, or a file system without locks
            pass
        return False

    @contextlib.contextmanager
    def locked(self):
        """For one jobs/study at a time; made if it is not there."""
        for name in ("runs", "logs", "jobs"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        with open(self.path / "jobs" / "lock", "a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                raise Fault(f"{self.path}: another jobs/study is at work there: {lock.read().strip()}") from None
            except OSError:
                pass  # a file system without locks
            lock.truncate(0)
            lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            lock.flush()
            yield

    def write_plan(self, study, runs):
        for run in runs:
            lines = (f"{key} = {toml_value(value)}\n" for key, value in sorted(run.options.items()))
            write_aside(self.config(run), "".join(lines))
        names = {run.name for run in runs}
        for config in (self.path / "runs").glob("*.toml"):  # of an earlier plan, and never begun
            if config.stem not in names and not (self.path / f"{config.stem}.h5").exists():
                config.unlink()
        plan = {"study": str(study.path), "configuration": study.text, "scaling": study.scaling,
                "tuned": study.tuning.option if study.tuning else None,
                "tuned_by": study.tuning.measure if study.tuning else None,
                "runs": [{"name": run.name, "protocol": run.options["protocol"], "nodes": run.nodes,
                          "ranks-per-node": run.per_node, "threads": run.threads, "batch": run.batch,
                          "seed": run.seed, "options": run.options} for run in runs]}
        write_aside(self.path / "study.json", json.dumps(plan, indent=1, ensure_ascii=False) + "\n")

    def make_room(self, run, status):
        """For a run that is made again: what its earlier try left is kept, aside, unless it goes on from there."""
        path = self.results(run)
        if status == "missing" or self.has_checkpoint(run) and status != "damaged":
            return
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        number = 1
        while (aside / f"{run.name}-{number}.h5").exists():
            number += 1
        os.rename(path, aside / f"{run.name}-{number}.h5")
