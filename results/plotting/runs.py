"""Results files, read at once, and what is to be said of those that can't be drawn."""
import json
import pathlib
from dataclasses import dataclass, field

import h5py
import numpy

RECONSTRUCTIONS = {"wasp": "WASP (reconstruction)", "nosync": "NoSync (reconstruction)"}
OVER = ("finished", "diverged")
# Options that say where a run was made and written, not what it is.
ELSEWHERE = {"seed", "out", "toml", "command_line", "save-model", "unique", "resume", "checkpoint-every",
             "keep-checkpoints", "progress", "stall-timeout", "max-time", "cluster"}


class Run:
    """One results file."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            if file.attrs.get("program") != "wasp":
                raise ValueError("is not a results file of wasp")
            self.status = str(file.attrs["status"])
            self.config = dict(file["config"].attrs)
            self.provenance = dict(file["provenance"].attrs)
            self.summary = dict(file["summary"].attrs)
            self.curve = {name: column[:] for name, column in file["curve"].items()}
            self.ranks = {name: column[:] for name, column in file["ranks"].items() if name not in ("host", "cpus")}
            self.staleness = file["staleness/total"][:]
            names = file["models/name"].asstr()[:] if "models/name" in file else ()
            self.models = dict(zip(names, file["models/test_accuracy"][:])) if len(names) else {}
        self.path = pathlib.Path(path)
        self.size = len(self.ranks["rank"])
        self.workers = int(self.summary.get("workers", self.size))
        self.nodes = len(set(self.ranks["node"])) if self.size else 0
        self.threads = int(self.ranks["threads"][0]) if self.size else 1
        self.planned_batch = None  # as the study says it

    def protocol(self):
        """'WASP (reconstruction)' and the keys it was given."""
        name, _, keys = str(self.config.get("protocol", self.path.stem)).partition(":")
        predicted = ["predicted"] if self.is_predicted() else []
        return RECONSTRUCTIONS.get(name, name.upper()), " ".join([*keys.split(","), *predicted]).strip()

    def is_predicted(self):
        """Whether its times are those of a modelled machine."""
        return str(self.config.get("cluster", "")).startswith("sim:")

    def options(self):
        """What it is, whichever its seed."""
        what = {key: value for key, value in self.config.items() if key not in ELSEWHERE}
        return what | {"predicted": "yes"} if self.is_predicted() else what

    def sibling(self, but=None):
        """What runs have in common that differ in their seed, and in the option `but`, only."""
        options = sorted((key, str(value)) for key, value in self.options().items() if key != but)
        return f"{options} {self.size} {self.nodes}"

    def label(self):
        size = f"{self.size} rank{'s' if self.size > 1 else ''}"
        threads = f" × {self.threads} threads" if self.threads > 1 else ""
        return " ".join(part for part in self.protocol() if part) + f", {size}{threads}"

    def divergence_quarters(self):
        """Of the recorded steps' divergences, the means of the first and the last quarter."""
        with h5py.File(self.path, "r") as file:
            quarters = numpy.array_split(file["steps/divergence"][:], 4)
        return [float(numpy.nanmean(quarter)) if numpy.isfinite(quarter).any() else numpy.nan
                for quarter in (quarters[0], quarters[-1])]

    def part_shares(self):
        """{part: share of the recorded time of all ranks}"""
        seconds = {name: float(self.ranks[name].sum())
                   for name in ("compute", "data", "pull", "push", "poll", "wait")}
        whole = sum(seconds.values())
        return {name: value / whole for name, value in seconds.items()} if whole > 0 else {}


@dataclass
class Collection:
    runs: list
    problems: list = field(default_factory=list)  # (name, status, why)
    plan: dict = None                             # study.json of the study's folder


def last_line(path):
    """Of what a run said: mostly why it failed."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


def read_folder(folder):
    """A study's folder: what can be drawn is over; all else is a problem."""
    there = {path.stem: path for path in sorted(folder.glob("*.h5")) if not path.name.startswith(".")}
    plan_file = folder / "study.json"
    plan = json.loads(plan_file.read_text(encoding="utf-8")) if plan_file.exists() else None
    planned = {run["name"]: run for run in plan["runs"]} if plan else {}
    collection = Collection([], [], plan)
    for name in dict.fromkeys([*planned, *there]):
        said = last_line(folder / "logs" / f"{name}.log")
        if name not in there:
            collection.problems.append((name, "missing", said))
            continue
        try:
            run = Run(there[name])
        except (OSError, KeyError, ValueError) as fault:
            if "is not a results file" not in str(fault):  # as models are, which may lie there, too
                collection.problems.append((name, "damaged", str(fault).splitlines()[0]))
            continue
        if run.status not in OVER:
            collection.problems.append((name, run.status, said))
        else:
            run.planned_batch = planned[name]["batch"] if name in planned else None
            collection.runs.append(run)
    return collection
