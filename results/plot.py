#!/usr/bin/python3
"""Draw what results files of `wasp train` hold, as PNG and PDF.

    results/plot.py RUN.h5 [RUN.h5 …] --out FOLDER
    results/plot.py STUDY_FOLDER --out FOLDER        also index.html, a page with all of it, and what failed

accuracy           test accuracy against training time, epochs, samples and updates
staleness          how stale the updates were; staleness-workers: against the number of workers
time               what each rank spent its time on; time-shares: shares, against the number of workers
scaling            speed-up and parallel efficiency against workers, with the ideal
step-mass          against workers

Of runs that differ in their seed only the mean is drawn, and how far they spread. What is drawn against workers needs
runs with different numbers of them. Of a study that tunes an option, its best value is drawn. --tables prints the tables of the page instead.
"""
import argparse
import pathlib
import sys

try:
    from plotting import curves, scaling, staleness, tables, times
    from plotting.families import families_of, siblings_of
    from plotting.page import write_page
    from plotting.runs import Collection, Run, read_folder
except ImportError as missing:
    sys.exit(f"{missing}: apt install python3-h5py python3-matplotlib, and run with /usr/bin/python3")

# what draws it, of siblings or of families, and what it is called in the page
PICTURES = [("scaling", scaling.draw_scaling, "families", "Speed-up and parallel efficiency"),
            ("accuracy", curves.draw_accuracy, "siblings", "Test accuracy"),
            ("staleness", staleness.draw_staleness, "siblings", "Staleness"),
            ("staleness-workers", staleness.draw_staleness_by_workers, "families", "Staleness against workers"),
            ("step-mass", scaling.draw_step_mass, "families", "Step mass"),
            ("time-shares", times.draw_time_shares, "families", "What time is spent on"),
            ("time", times.draw_time, "siblings", "The ranks' time")]


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def read_all(paths):
    """Of files each must be good; folders may hold runs that are not."""
    collection = Collection([])
    for path in paths:
        if not path.exists():
            refuse(f"{path}: no such file")
        if path.is_dir():
            found = read_folder(path)
            if not found.runs and not found.problems:
                refuse(f"{path}: holds no results (*.h5)")
            collection.runs += found.runs
            collection.problems += found.problems
            collection.plan = found.plan
            continue
        try:
            collection.runs.append(Run(path))
        except (OSError, KeyError, ValueError) as fault:
            refuse(f"{path}: {str(fault).splitlines()[0]}; give files that 'wasp train --out' wrote")
    return collection


def title_of(runs):
    """'WASP (reconstruction), BSP: WHAT, lenet5 on fashion-mnist', as a function of WHAT"""
    protocols = list(dict.fromkeys(run.protocol()[0] for run in runs))
    models = list(dict.fromkeys(str(run.config.get("model", "?")) for run in runs))
    data = list(dict.fromkeys(pathlib.Path(str(run.config.get("data", "?"))).stem for run in runs))
    head = ", ".join(protocols) if len(protocols) <= 6 else f"{len(protocols)} protocols"
    return lambda what: f"{head}\n{what}, {', '.join(models)} on {', '.join(data)}"


def draw_all(runs, siblings, folder):
    """[(PNG file, meaning)] of what could be drawn"""
    groups = {"siblings": siblings, "families": families_of(siblings)}
    drawn = []
    for name, draw, of, meaning in PICTURES:
        if draw(groups[of], title_of(runs), folder):
            print(f"{folder / name}.png, .pdf")
            drawn.append((folder / f"{name}.png", meaning))
        else:
            print(f"{name}: nothing to draw it from")
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="RUN.h5|STUDY_FOLDER",
                        help="results of wasp train")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"), help="folder for the pictures")
    parser.add_argument("--tables", action="store_true", help="print the tables, as Markdown, and draw nothing")
    arguments = parser.parse_args()
    collection = read_all(arguments.paths)
    siblings = siblings_of(collection.runs)
    shown = tables.tables_of(siblings, collection.plan)
    for name, status, why in collection.problems:
        print(f"{status}: {name}" + (f": {why}" if why else ""), file=sys.stderr)
    if arguments.tables:
        print("\n\n".join(f"{caption}:\n\n{tables.markdown(table)}" for caption, table in shown))
        return
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        best = tables.best_of_tuned(siblings, collection.plan)  # all that was tried would fill no picture
        drawn = draw_all(collection.runs, best or siblings, arguments.out)
        folders = [path for path in arguments.paths if path.is_dir()]
        if folders:
            page = arguments.out / "index.html"
            write_page(page, ", ".join(folder.resolve().name for folder in folders), collection, shown, drawn)
            print(page)
    except OSError as fault:
        refuse(f"{arguments.out}: {fault}")


if __name__ == "__main__":
    main()
