"""Runs that belong together: siblings differ in their seed only, a family of siblings in its number of workers."""
import itertools

import numpy


MOST_LETTERS = 90  # of a label
# Options that follow from the protocol unless they are given: worth saying where one protocol has them in several ways.
FOLLOWING = {"bn-stats", "shards", "validation", "eval-every"}


class Siblings:
    def __init__(self, runs):
        self.runs = sorted(runs, key=lambda run: run.config.get("seed", 0))
        self.first = self.runs[0]
        self.workers = self.first.workers

    def values(self, name):
        """Of the summaries, as far as they are known."""
        numbers = numpy.array([float(run.summary.get(name, numpy.nan)) for run in self.runs])
        return numbers[numpy.isfinite(numbers)]

    def staleness(self):
        """The histogram of all."""
        total = numpy.zeros(max(len(run.staleness) for run in self.runs))
        for run in self.runs:
            total[:len(run.staleness)] += run.staleness
        return total

    def curves(self):
        """{column: (run, evaluation)}, as far as all have them."""
        drawn = [run for run in self.runs if len(run.curve["seconds"])]
        length = min((len(run.curve["seconds"]) for run in drawn), default=0)
        return {name: numpy.stack([run.curve[name][:length] for run in drawn]) for name in self.first.curve} \
            if length else {}


def siblings_of(runs):
    groups = {}
    for run in runs:
        groups.setdefault(run.sibling(), []).append(run)
    return [Siblings(group) for group in groups.values()]


def differing(siblings):
    """Options, beside protocol, batch and threads, in which they are not all alike, in order of name."""
    options = [group.first.options() for group in siblings if group.first.config]  # none: it has just begun
    keys = sorted(set(itertools.chain.from_iterable(options)) - {"protocol", "batch", "threads"})
    protocols = len({each.get("protocol") for each in options})

    def differs(key):
        values = {(each.get("protocol") if key in FOLLOWING else "", str(each.get(key))) for each in options}
        return len(values) > (protocols if key in FOLLOWING else 1)
    return [key for key in keys if differs(key)]


def labels_of(siblings):
    """One each: protocol, and whatever else tells them apart."""
    keys = differing(siblings)
    labels = []
    for group in siblings:
        options = group.first.options()
        further = "".join(f", {key} {options[key]:g}" if isinstance(options.get(key), float) else
                          f", {key} {options.get(key, '–')}" for key in keys if options)
        label = group.first.label() + further
        labels.append(label if len(label) <= MOST_LETTERS else label[:MOST_LETTERS - 1] + "…")
    return [label if labels.count(label) == 1 else f"{label} [{group.first.path.stem}]"
            for label, group in zip(labels, siblings)]


class Family:
    """Siblings by number of workers."""

    def __init__(self, members, label):
        self.members = sorted(members, key=lambda group: group.workers)
        self.label = label


def worker_counts(families):
    return sorted({group.workers for family in families for group in family.members})


def scaling_key(group, with_batch, with_nodes):
    run = group.first
    options = {key: str(value) for key, value in run.options().items() if key not in ("batch", "threads")}
    # In strong scaling the batch of a worker falls with their number; the study knows which it is.
    batch = run.planned_batch or (run.config.get("batch") if with_batch else None)
    return str(sorted(options.items())), run.threads, batch, run.size / run.nodes if with_nodes and run.nodes else None


def grouped(siblings, with_batch, with_nodes):
    groups = {}
    for group in siblings:
        groups.setdefault(scaling_key(group, with_batch, with_nodes), []).append(group)
    return list(groups.values())


def families_of(siblings):
    """Without a study's plan, runs with one batch in all are of strong scaling, others of weak."""
    groups = []
    for group in grouped(siblings, False, False):
        totals = {one.workers * int(one.first.config.get("batch", 0)) for one in group}
        planned = group[0].first.planned_batch is not None
        for part in [group] if planned or len(totals) == 1 else grouped(group, True, False):
            unique = len({one.workers for one in part}) == len(part)
            groups += [part] if unique else grouped(part, True, True)
    heads = [group[0] for group in groups]
    keys = differing(heads)
    labels = []
    for group in groups:
        run = group[0].first
        options = run.options()
        words = [" ".join(part for part in run.protocol() if part)]
        words += [f"{key} {options.get(key, '–')}" for key in keys]
        if len({head.first.threads for head in heads}) > 1:
            words.append(f"{run.threads} thread{'s' if run.threads > 1 else ''}")
        labels.append(", ".join(words))
    for number, group in enumerate(groups):
        if labels.count(labels[number]) > 1:  # what tells them apart is where and how they run
            run = group[0].first
            batch = run.planned_batch or run.config.get("batch", "?")
            labels[number] += f", batch {batch}, {run.size / max(run.nodes, 1):g} ranks a node"
    return [Family(group, label) for group, label in zip(groups, labels)]
