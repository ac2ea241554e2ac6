"""From a study to its runs: which there are, and what each is called."""
import hashlib
import itertools
import json
import math
import re
from dataclasses import dataclass

from .configuration import MEASURES
from .faults import Fault


@dataclass(eq=False)
class Run:
    name: str      # of its files; the same configuration has the same, always
    nodes: int
    per_node: int  # ranks
    threads: int
    batch: int     # as the study says: of all workers together (strong scaling), or of each (weak)
    seed: int
    options: dict  # of wasp train
    tuned: bool    # with this seed, all values of the option that is tuned are tried

    @property
    def ranks(self):
        return self.nodes * self.per_node

    @property
    def shape(self):
        return self.nodes, self.per_node, self.threads

    def group(self, option):
        """What it has in common with the runs that differ in seed and `option` only."""
        rest = {key: value for key, value in self.options.items() if key not in (option, "seed")}
        return self.shape, json.dumps(rest, sort_keys=True)


def canonical(value):
    """1.0 and 1 are one value of an option."""
    return int(value) if isinstance(value, float) and math.isfinite(value) and value == int(value) else value


def name_of(nodes, per_node, threads, options, varied):
    """Readable, of letters that need no quotes anywhere, and with a mark of the whole configuration at the end."""
    whole = json.dumps([nodes, per_node, {key: canonical(value) for key, value in options.items()}], sort_keys=True)
    mark = hashlib.sha256(whole.encode()).hexdigest()[:10]
    others = "".join(f"_{key}={options[key]}" for key in varied)
    words = f"{options['protocol']}_{nodes}x{per_node}x{threads}_b{options['batch']}{others}_s{options['seed']}"
    return f"{re.sub(r'[^A-Za-z0-9.=_-]+', '-', words)[:120]}_{mark}"


def worker_batch(study, protocol, batch, ranks):
    if study.scaling == "weak":
        return batch
    if batch % ranks:
        raise Fault(f"{study.path}: protocols ({protocol}): batch {batch} can't be shared equally among {ranks} "
                    "workers; choose a multiple, or scaling = \"weak\"")
    return batch // ranks


def runs_of(study):
    """All that may be run, seed by seed, so that a study that was cut short has something of everything."""
    runs = {}
    for entry in study.entries:
        varied = sorted(key for key, values in entry.options.items() if len(values) > 1)
        keys = list(entry.options)
        for nodes, per_node, threads, batch, seed in itertools.product(*entry.shape.values()):
            for values in itertools.product(*entry.options.values()):
                ranks = nodes * per_node
                options = dict(zip(keys, values)) | {
                    "protocol": entry.protocol, "seed": seed, "threads": threads,
                    "batch": worker_batch(study, entry.protocol, batch, ranks)}
                name = name_of(nodes, per_node, threads, options, varied)
                if name in runs:
                    raise Fault(f"{study.path}: protocols ({entry.protocol}): the same run is there twice: {name}")
                runs[name] = Run(name, nodes, per_node, threads, batch, seed, options, seed in entry.tune_seeds)
    return sorted(runs.values(), key=lambda run: run.seed)


def best_values(study, runs, measure_of):
    """{group: value} of the option that is tuned, where all its runs are over; None where not.

    measure_of(run): of a run that is over, NaN or infinite if it never got there; None: not over.
    """
    option, lower = study.tuning.option, MEASURES[study.tuning.measure]
    tried = {}
    for run in runs:
        if run.tuned:
            tried.setdefault(run.group(option), {}).setdefault(run.options.get(option), []).append(measure_of(run))
    best = {}
    for group, by_value in tried.items():
        if any(one is None for measures in by_value.values() for one in measures):
            best[group] = None
            continue
        worst = math.inf if lower else -math.inf
        means = {value: sum(worst if math.isnan(one) else one for one in measures) / len(measures)
                 for value, measures in by_value.items()}
        best[group] = (min if lower else max)(means, key=means.get)
    return best


def planned(study, measure_of):
    """(runs that are to be made, number of runs that can't be told before others are over)"""
    runs = runs_of(study)
    if not study.tuning:
        return runs, 0
    option = study.tuning.option
    best = best_values(study, runs, measure_of)
    to_make, open_groups = [], set()
    for run in runs:
        group = run.group(option)
        if group not in best:
            raise Fault(f"{study.path}: [tune]: none of its seeds is among the seeds of "
                        f"protocols ({run.options['protocol']})")
        if run.tuned or best[group] == run.options.get(option):
            to_make.append(run)
        elif best[group] is None:
            open_groups.add((group, run.seed))
    return to_make, len(open_groups)
