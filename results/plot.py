#!/usr/bin/python3
"""Draw what results files of `wasp train` hold, as PNG and PDF.

    results/plot.py RUN.h5 [RUN.h5 …] --out FOLDER

accuracy     test accuracy against training time, epochs, samples and updates; of runs that differ in their seed only,
             the mean, and how far they spread
staleness    how stale the updates of each run were
time         what each rank spent its time on

Colours are Okabe and Ito's, which colour-blind people can tell apart; lines also differ by dashes and markers,
areas by hatching, so that a black-and-white print will do.
"""
import argparse
import pathlib
import sys

try:
    import h5py
    import matplotlib
    import numpy
except ImportError as missing:
    sys.exit(f"{missing}: apt install python3-h5py python3-matplotlib, and run with /usr/bin/python3")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: E402

LINES = [("#0072B2", "-", "o"), ("#D55E00", "--", "s"), ("#009E73", "-.", "^"), ("#CC79A7", ":", "D"),
         ("#E69F00", (0, (5, 1, 1, 1, 1, 1)), "v"), ("#56B4E9", (0, (8, 2)), "P"), ("#000000", (0, (1, 1)), "X")]
PARTS = [("compute", "#0072B2", "", "forward and backward pass"), ("data", "#F0E442", "....", "preparing batches"),
         ("pull", "#56B4E9", "////", "pull weights"), ("push", "#009E73", "\\\\\\\\", "push updates"),
         ("poll", "#CC79A7", "xxxx", "serve other ranks"), ("wait", "#D55E00", "----", "wait for other ranks")]
RECONSTRUCTIONS = {"wasp": "WASP (reconstruction)", "nosync": "NoSync (reconstruction)"}
MOST_RANK_LABELS = 32
MOST_BARS = 150

pyplot.rcParams.update({
    "font.size": 11, "axes.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "0.9", "axes.axisbelow": True, "legend.frameon": False, "hatch.linewidth": 0.6, "pdf.fonttype": 42})


class Run:
    """One results file, read at once."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            if file.attrs.get("program") != "wasp":
                raise ValueError("is not a results file of wasp")
            self.config = dict(file["config"].attrs)
            self.summary = dict(file["summary"].attrs)
            self.curve = {name: column[:] for name, column in file["curve"].items()}
            self.ranks = {name: column[:] for name, column in file["ranks"].items() if name != "host"}
            self.staleness = file["staleness/total"][:]
        self.path = pathlib.Path(path)
        self.size = len(self.ranks["rank"])

    def protocol(self):
        """'WASP (reconstruction)' and the keys it was given."""
        name, _, keys = str(self.config.get("protocol", self.path.stem)).partition(":")
        return RECONSTRUCTIONS.get(name, name.upper()), " ".join(keys.split(","))

    def sibling(self):
        """What runs have in common that differ in their seed only."""
        own = {"seed", "out", "toml", "command_line", "save-model", "unique"}
        return str(sorted((key, str(value)) for key, value in self.config.items() if key not in own)) + str(self.size)

    def label(self):
        threads = int(self.ranks["threads"][0]) if self.size else 1
        size = f"{self.size} rank{'s' if self.size > 1 else ''}" + (f" × {threads} threads" if threads > 1 else "")
        return " ".join(part for part in self.protocol() if part) + ", " + size


def labels_of(runs):
    """One a run; with the file's name where they would be equal."""
    labels = [run.label() for run in runs]
    return [label if labels.count(label) == 1 else f"{label} [{run.path.stem}]" for label, run in zip(labels, runs)]


def title(runs, what):
    """'WASP (reconstruction), BSP: WHAT, lenet5 on fashion-mnist'"""
    protocols = list(dict.fromkeys(run.protocol()[0] for run in runs))
    models = list(dict.fromkeys(str(run.config.get("model", "?")) for run in runs))
    data = list(dict.fromkeys(pathlib.Path(str(run.config.get("data", "?"))).stem for run in runs))
    return f"{', '.join(protocols)}\n{what}, {', '.join(models)} on {', '.join(data)}"


def save(figure, folder, name):
    for ending in ("png", "pdf"):
        metadata = {"CreationDate": None} if ending == "pdf" else None
        figure.savefig(folder / f"{name}.{ending}", dpi=150, bbox_inches="tight", metadata=metadata)
    pyplot.close(figure)


def legend_below(figure, handles, labels):
    # As many columns as fit the width of the figure, at about 0.1 inches a character.
    widest = max(map(len, labels)) * 0.1 + 0.8
    columns = max(1, min(len(labels), int(figure.get_figwidth() / widest)))
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=columns)


class Siblings:
    """Runs that differ in their seed only: the mean of their curves, as far as all have them."""

    def __init__(self, runs):
        length = min(len(run.curve["seconds"]) for run in runs)
        stacked = {name: numpy.stack([run.curve[name][:length] for run in runs]) for name in runs[0].curve}
        self.curve = {name: values.mean(axis=0) for name, values in stacked.items()}
        self.accuracies = 100 * stacked["test_accuracy"]
        self.size, self.summary = len(runs), runs[0].summary


def families_of(runs):
    """[(Siblings, label)]"""
    families = {}
    for run in runs:
        if len(run.curve["seconds"]):
            families.setdefault(run.sibling(), []).append(run)
    heads = labels_of([family[0] for family in families.values()])
    return [(Siblings(family), label) for family, label in zip(families.values(), heads)]


def draw_accuracy(runs, folder):
    families = families_of(runs)
    shown = [(family, label, line) for (family, label), line in zip(families, LINES * len(families))]
    if not shown:
        return False
    figure, panels = pyplot.subplots(2, 2, sharey=True, figsize=(10, 7.5), layout="constrained")
    panels = panels.flatten()
    for panel, column, axis in zip(panels, ("seconds", "epoch", "samples", "version"),
                                   ("training time in s", "epochs", "samples", "updates")):
        for run, label, (colour, dashes, marker) in shown:
            accuracy = run.accuracies.mean(axis=0)
            spread = f" ± {run.accuracies[:, -1].std(ddof=1):.2f}, {run.size} seeds" if run.size > 1 else ""
            panel.plot(run.curve[column], accuracy, color=colour, linestyle=dashes, marker=marker, markersize=5,
                       markevery=max(1, len(accuracy) // 15), label=f"{label}: {accuracy[-1]:.2f} %{spread}")
            if run.size > 1:
                panel.fill_between(run.curve[column], run.accuracies.min(axis=0), run.accuracies.max(axis=0),
                                   color=colour, alpha=0.15, linewidth=0)
        for target in {float(run.summary.get("target_accuracy", numpy.nan)) for run, *_ in shown}:
            if numpy.isfinite(target):
                panel.axhline(100 * target, color="0.35", linewidth=1, dashes=(2, 2),
                              label=f"target {100 * target:g} %")
        panel.set_xlabel(axis)
        panel.set_xlim(left=0)
    for panel in (panels[0], panels[2]):
        panel.set_ylabel("test accuracy in %")
    # The untrained model's accuracy would press all others against the upper edge.
    trained = 100 * numpy.concatenate([run.curve["test_accuracy"][run.curve["epoch"] > 0] for run, *_ in shown])
    trained = trained[numpy.isfinite(trained)]
    if len(trained) and trained.max() > trained.min():
        margin = 0.05 * (trained.max() - trained.min())
        panels[0].set_ylim(trained.min() - margin, trained.max() + margin)
    figure.suptitle(title(runs, "test accuracy"))
    legend_below(figure, *panels[0].get_legend_handles_labels())
    save(figure, folder, "accuracy")
    return True


def draw_staleness(runs, folder):
    shown = [(run, label, line) for run, label, line in zip(runs, labels_of(runs), LINES * len(runs))
             if run.staleness.sum()]
    if not shown:
        return False
    figure, panel = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
    last = max(numpy.flatnonzero(run.staleness)[-1] for run, *_ in shown)
    for run, label, (colour, dashes, marker) in shown:
        share = 100 * run.staleness / run.staleness.sum()
        label = f"{label}: mean {numpy.average(numpy.arange(len(share)), weights=share):.2f}"
        if len(shown) == 1 and last <= MOST_BARS:
            panel.bar(numpy.arange(len(share)), share, color=colour, width=0.8, label=label)
        else:  # with gaps where there was no such update
            panel.plot(numpy.where(share > 0, share, numpy.nan), color=colour, linestyle=dashes, marker=marker,
                       markersize=3.5, label=label)
    shares = numpy.concatenate([run.staleness[run.staleness > 0] / run.staleness.sum() for run, *_ in shown])
    if shares.max() > 200 * shares.min():
        panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}"))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlim(-0.7, last + 0.7)
    panel.set_xlabel("staleness: updates of others between pull and push")
    panel.set_ylabel("share of updates in %")
    figure.suptitle(title(runs, "staleness"))
    legend_below(figure, *panel.get_legend_handles_labels())
    save(figure, folder, "staleness")
    return True


def draw_time(runs, folder):
    shown = [(run, label) for run, label in zip(runs, labels_of(runs)) if run.size]
    if not shown:
        return False
    parts = [part for part in PARTS if any(run.ranks[part[0]].any() for run, _ in shown)]
    heights = [max(1.0, 0.3 * min(run.size, MOST_RANK_LABELS)) for run, _ in shown]
    figure, panels = pyplot.subplots(len(shown), 1, sharex=True, squeeze=False, layout="constrained",
                                     figsize=(9, sum(heights) + 0.5 * len(shown) + 1.2), height_ratios=heights)
    for panel, (run, label) in zip(panels[:, 0], shown):
        start = numpy.zeros(run.size)
        for name, colour, hatch, meaning in parts:
            panel.barh(run.ranks["rank"], run.ranks[name], left=start, color=colour, hatch=hatch, edgecolor="black",
                       linewidth=0.3, height=0.8, label=meaning)
            start += run.ranks[name]
        panel.set_title(label, loc="left")
        panel.set_ylabel("rank")
        panel.grid(axis="y", visible=False)
        panel.set_ylim(run.size - 0.4, -0.6)
        if run.size <= MOST_RANK_LABELS:
            panel.set_yticks(run.ranks["rank"])
        else:
            panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    panels[-1, 0].set_xlabel("time in s")
    figure.suptitle(title(runs, "the ranks' time"))
    legend_below(figure, *panels[0, 0].get_legend_handles_labels())
    save(figure, folder, "time")
    return True


def read_all(paths):
    runs = []
    for path in paths:
        if not pathlib.Path(path).exists():
            print(f"{path}: no such file", file=sys.stderr)
            sys.exit(2)
        try:
            runs.append(Run(path))
        except (OSError, KeyError, ValueError) as fault:
            print(f"{path}: {str(fault).splitlines()[0]}; give files that 'wasp train --out' wrote", file=sys.stderr)
            sys.exit(2)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="RUN.h5", help="results of wasp train")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"), help="folder for the pictures")
    arguments = parser.parse_args()
    runs = read_all(arguments.files)
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for draw, name in ((draw_accuracy, "accuracy"), (draw_staleness, "staleness"), (draw_time, "time")):
            drawn = draw(runs, arguments.out)
            print(f"{arguments.out / name}.png, .pdf" if drawn else f"{name}: nothing recorded, not drawn")
    except OSError as fault:
        print(f"{arguments.out}: {fault}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
