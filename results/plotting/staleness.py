"""How stale updates were: as histograms, and against the number of workers."""
import numpy
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import style
from .families import labels_of, worker_counts
from .style import pyplot

MOST_BARS = 150


def draw_staleness(siblings, title, folder):
    shown = [(group.staleness(), label) for group, label in zip(siblings, labels_of(siblings))]
    shown = [(total, label, style.line(number))
             for number, (total, label) in enumerate(one for one in shown if one[0].sum())]
    if not shown:
        return False
    figure, panel = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
    last = max(numpy.flatnonzero(total)[-1] for total, *_ in shown)
    for total, label, line in shown:
        share = 100 * total / total.sum()
        label = f"{label}: mean {numpy.average(numpy.arange(len(share)), weights=share):.2f}"
        if len(shown) == 1 and last <= MOST_BARS:
            panel.bar(numpy.arange(len(share)), share, color=line["color"], width=0.8, label=label)
        else:  # with gaps where there was no such update
            panel.plot(numpy.where(share > 0, share, numpy.nan), markersize=3.5, label=label, **line)
    shares = numpy.concatenate([total[total > 0] / total.sum() for total, *_ in shown])
    if shares.max() > 200 * shares.min():
        panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}"))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlim(-0.7, last + 0.7)
    panel.set_xlabel("staleness: updates of others between pull and push")
    panel.set_ylabel("share of updates in %")
    figure.suptitle(title("staleness"))
    style.legend_below(figure, *panel.get_legend_handles_labels())
    style.save(figure, folder, "staleness")
    return True


def quantile(total, share):
    """The least staleness that so large a share of updates does not exceed."""
    return int(numpy.searchsorted(numpy.cumsum(total), share * total.sum()))


def box_of(total):
    return {"whislo": quantile(total, 0.05), "q1": quantile(total, 0.25), "med": quantile(total, 0.5),
            "q3": quantile(total, 0.75), "whishi": quantile(total, 0.95), "fliers": [],
            "mean": numpy.average(numpy.arange(len(total)), weights=total)}


def draw_staleness_by_workers(families, title, folder):
    counts = worker_counts(families)
    shown = [family for family in families if any(group.staleness().sum() for group in family.members)]
    if len(counts) < 2 or not shown:
        return False
    width = 0.8 / len(shown)
    figure, panel = pyplot.subplots(figsize=(max(8, 0.35 * len(shown) * len(counts) + 2), 4.5), layout="constrained")
    for number, family in enumerate(shown):
        drawn = [group for group in family.members if group.staleness().sum()]
        places = [counts.index(group.workers) + (number - (len(shown) - 1) / 2) * width for group in drawn]
        colour = style.COLOURS[number % len(style.COLOURS)]
        boxes = panel.bxp([box_of(group.staleness()) for group in drawn], positions=places, widths=0.8 * width,
                          showmeans=True, patch_artist=True, manage_ticks=False, medianprops={"color": "black"},
                          meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black"})
        for box in boxes["boxes"]:
            box.set(facecolor=colour, alpha=0.7, hatch=style.HATCHES[number % len(style.HATCHES)])
        boxes["boxes"][0].set_label(family.label)
    panel.set_xticks(range(len(counts)), counts)
    panel.set_xlabel("workers")
    panel.set_ylabel("staleness: box 25 to 75 %, whiskers 5 to 95 %,\nline median, diamond mean")
    panel.set_ylim(bottom=-0.2)
    figure.suptitle(title("staleness against workers"))
    style.legend_below(figure, *panel.get_legend_handles_labels())
    style.save(figure, folder, "staleness-workers")
    return True
