"""How all pictures look.

Colours are Okabe and Ito's, which colour-blind people can tell apart; lines also differ by dashes and markers, areas by
hatching, so that a black-and-white print will do.
"""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "////", "\\\\\\\\", "....", "xxxx", "----", "++++")
PARTS = [("compute", "#0072B2", "", "forward and backward pass"), ("data", "#F0E442", "....", "preparing batches"),
         ("pull", "#56B4E9", "////", "pull weights"), ("push", "#009E73", "\\\\\\\\", "push updates"),
         ("poll", "#CC79A7", "xxxx", "serve other ranks"), ("wait", "#D55E00", "----", "wait for other ranks")]

pyplot.rcParams.update({
    "font.size": 11, "axes.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "0.9", "axes.axisbelow": True, "legend.frameon": False, "hatch.linewidth": 0.6, "pdf.fonttype": 42})


def line(number):
    """Of the number-th line, as keywords: one and the same look for 49 lines."""
    turn = number + number // len(COLOURS)
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[turn % len(DASHES)],
            "marker": MARKERS[turn % len(MARKERS)]}


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


def draw_parts(panel, places, seconds):
    """Stacked horizontal bars.   seconds: {part: a number a place}"""
    start = [0.0] * len(places)
    for name, colour, hatch, meaning in PARTS:
        if name not in seconds:
            continue
        panel.barh(places, seconds[name], left=start, color=colour, hatch=hatch, edgecolor="black", linewidth=0.3,
                   height=0.8, label=meaning)
        start = [before + more for before, more in zip(start, seconds[name])]
