"""Test accuracy against time, epochs, samples and updates; of siblings the mean, and how far they spread."""
import numpy

from . import style
from .families import labels_of
from .style import pyplot


def draw_accuracy(siblings, title, folder):
    shown = [(group, label, group.curves()) for group, label in zip(siblings, labels_of(siblings))]
    shown = [(group, label, curves, style.line(number))
             for number, (group, label, curves) in enumerate(one for one in shown if one[2])]
    if not shown:
        return False
    figure, panels = pyplot.subplots(2, 2, sharey=True, figsize=(10, 7.5), layout="constrained")
    panels = panels.flatten()
    for panel, column, axis in zip(panels, ("seconds", "epoch", "samples", "version"),
                                   ("training time in s", "epochs", "samples", "updates")):
        for group, label, curves, line in shown:
            draw_curve(panel, curves[column].mean(axis=0), 100 * curves["test_accuracy"], label, line)
        for target in {float(group.first.summary.get("target_accuracy", numpy.nan)) for group, *_ in shown}:
            if numpy.isfinite(target):
                panel.axhline(100 * target, color="0.35", linewidth=1, dashes=(2, 2),
                              label=f"target {100 * target:g} %")
        panel.set_xlabel(axis)
        panel.set_xlim(left=0)
    for panel in (panels[0], panels[2]):
        panel.set_ylabel("test accuracy in %")
    # The untrained model's accuracy would press all others against the upper edge.
    trained = numpy.concatenate([100 * curves["test_accuracy"][curves["epoch"] > 0] for _, _, curves, _ in shown])
    trained = trained[numpy.isfinite(trained)]
    if len(trained) and trained.max() > trained.min():
        margin = 0.05 * (trained.max() - trained.min())
        panels[0].set_ylim(trained.min() - margin, trained.max() + margin)
    figure.suptitle(title("test accuracy"))
    style.legend_below(figure, *panels[0].get_legend_handles_labels())
    style.save(figure, folder, "accuracy")
    return True


def draw_curve(panel, places, accuracies, label, line):
    """accuracies: (run, evaluation), in percent"""
    mean, last = accuracies.mean(axis=0), accuracies[:, -1]
    spread = f" ± {last.std(ddof=1):.2f}, {len(last)} seeds" if len(last) > 1 else ""
    panel.plot(places, mean, markersize=5, markevery=max(1, len(mean) // 15),
               label=f"{label}: {mean[-1]:.2f} %{spread}", **line)
    if len(last) > 1:
        panel.fill_between(places, accuracies.min(axis=0), accuracies.max(axis=0), color=line["color"], alpha=0.15,
                           linewidth=0)
