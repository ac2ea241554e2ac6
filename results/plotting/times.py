"""What ranks spent their time on: rank by rank of a run, or as shares of siblings."""
import numpy
from matplotlib.ticker import MaxNLocator

from . import style
from .families import labels_of
from .style import pyplot

MOST_RANK_LABELS = 32
MOST_RUNS = 12


def draw_time(siblings, title, folder):
    """Rank by rank, of the first of each group of siblings; too many would fill no page."""
    shown = [(group.first, label) for group, label in zip(siblings, labels_of(siblings)) if group.first.size]
    if not shown:
        return False
    what = "the ranks' time" + (f", of {MOST_RUNS} of {len(shown)} runs" if len(shown) > MOST_RUNS else "")
    shown = shown[:MOST_RUNS]
    parts = [name for name, *_ in style.PARTS if any(run.ranks[name].any() for run, _ in shown)]
    heights = [max(1.0, 0.3 * min(run.size, MOST_RANK_LABELS)) for run, _ in shown]
    figure, panels = pyplot.subplots(len(shown), 1, sharex=True, squeeze=False, layout="constrained",
                                     figsize=(9, sum(heights) + 0.5 * len(shown) + 1.2), height_ratios=heights)
    for panel, (run, label) in zip(panels[:, 0], shown):
        style.draw_parts(panel, run.ranks["rank"], {name: run.ranks[name] for name in parts})
        panel.set_title(label, loc="left")
        panel.set_ylabel("rank")
        panel.grid(axis="y", visible=False)
        panel.set_ylim(run.size - 0.4, -0.6)
        if run.size <= MOST_RANK_LABELS:
            panel.set_yticks(run.ranks["rank"])
        else:
            panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    panels[-1, 0].set_xlabel("time in s")
    figure.suptitle(title(what))
    style.legend_below(figure, *panels[0, 0].get_legend_handles_labels())
    style.save(figure, folder, "time")
    return True


def draw_time_shares(families, title, folder):
    """A bar for each family and number of workers, the mean of its seeds."""
    rows = []
    for family in families:
        for group in family.members:
            shares = [each for run in group.runs if (each := run.part_shares())]
            if shares:
                mean = {name: 100 * float(numpy.mean([each[name] for each in shares])) for name in shares[0]}
                rows.append((f"{family.label}, {group.workers} worker{'s' if group.workers > 1 else ''}", mean))
    if not rows:
        return False
    figure, panel = pyplot.subplots(figsize=(10, 0.35 * len(rows) + 1.5), layout="constrained")
    parts = [name for name, *_ in style.PARTS if any(shares[name] for _, shares in rows)]
    style.draw_parts(panel, range(len(rows)), {name: [shares[name] for _, shares in rows] for name in parts})
    panel.set_yticks(range(len(rows)), [label for label, _ in rows])
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_xlim(0, 100)
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("share of the ranks' time in %")
    figure.suptitle(title("what time is spent on"))
    style.legend_below(figure, *panel.get_legend_handles_labels())
    style.save(figure, folder, "time-shares")
    return True
