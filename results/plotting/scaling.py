"""Speed-up, parallel efficiency and step mass against the number of workers, with error bars over seeds.

The speed-up of p workers is p0 · x(p) / x(p0), where x is the samples a second, or one over the time to the target
accuracy, and p0 the least number of workers of the family: ideal is p. Efficiency is speed-up over p.
"""
import numpy
from matplotlib.ticker import FuncFormatter, NullLocator

from . import style
from .families import worker_counts
from .style import pyplot

MEASURES = (("samples_per_second", "samples a second", lambda values: values),
            ("time_to_accuracy", "time to the target accuracy", lambda values: 1 / values))


def deviation(values):
    """Over the seeds; 0 of one."""
    return values.std(ddof=1) if len(values) > 1 else 0


def speedups(family, name, speed):
    """(workers, mean, deviation) of the sizes at which a run has the measure."""
    known = [(group.workers, speed(group.values(name))) for group in family.members if len(group.values(name))]
    if not known:
        return None
    least, base = known[0]
    scaled = [(workers, least * values / base.mean()) for workers, values in known]
    return (numpy.array([workers for workers, _ in scaled]), numpy.array([values.mean() for _, values in scaled]),
            numpy.array([deviation(values) for _, values in scaled]))


def mark_workers(panel, counts):
    panel.set_xscale("log", base=2)
    panel.set_xticks(counts, counts)
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("workers")


def draw_scaling(families, title, folder):
    counts = worker_counts(families)
    if len(counts) < 2:
        return False
    drawn = []
    for name, meaning, speed in MEASURES:
        points = [(family, number, speedups(family, name, speed)) for number, family in enumerate(families)]
        points = [one for one in points if one[2] is not None and len(one[2][0]) > 1]
        if points:
            drawn.append((meaning, points))
    if not drawn:
        return False
    figure, panels = pyplot.subplots(len(drawn), 2, squeeze=False, figsize=(10, 3.9 * len(drawn)), layout="constrained")
    for (speedup, efficiency), (meaning, points) in zip(panels, drawn):
        ends = numpy.array([counts[0], counts[-1]])
        speedup.plot(ends, ends, color="0.35", linewidth=1, dashes=(2, 2), label="ideal")
        efficiency.axhline(100, color="0.35", linewidth=1, dashes=(2, 2))
        for family, number, (workers, mean, deviation) in points:
            look = style.line(number) | {"capsize": 3, "markersize": 5, "label": family.label}
            speedup.errorbar(workers, mean, deviation, **look)
            efficiency.errorbar(workers, 100 * mean / workers, 100 * deviation / workers, **look)
        speedup.set_yscale("log", base=2)
        speedup.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        speedup.set_ylabel(f"speed-up: {meaning}")
        efficiency.set_ylabel("parallel efficiency in %")
        efficiency.set_ylim(bottom=0)
        for panel in (speedup, efficiency):
            mark_workers(panel, counts)
    figure.suptitle(title("speed-up and parallel efficiency"))
    entries = {label: handle for row in panels for handle, label in zip(*row[0].get_legend_handles_labels())}
    style.legend_below(figure, list(entries.values()), list(entries))
    style.save(figure, folder, "scaling")
    return True


def draw_step_mass(families, title, folder):
    counts = worker_counts(families)
    shown = [(family, number, [group for group in family.members if len(group.values("step_mass"))])
             for number, family in enumerate(families)]
    shown = [one for one in shown if one[2]]
    if len(counts) < 2 or not shown:
        return False
    figure, panel = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for family, number, groups in shown:
        values = [group.values("step_mass") for group in groups]
        panel.errorbar([group.workers for group in groups], [each.mean() for each in values],
                       [deviation(each) for each in values], capsize=3, markersize=5,
                       label=family.label, **style.line(number))
    mark_workers(panel, counts)
    panel.set_ylim(bottom=0)
    panel.set_ylabel("step mass: Σw over as many\nupdates as there are workers")
    figure.suptitle(title("step mass"))
    style.legend_below(figure, *panel.get_legend_handles_labels())
    style.save(figure, folder, "step-mass")
    return True
