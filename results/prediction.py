#!/usr/bin/python3
"""Print what a study in virtual time predicts, as a table: docs/PREDICTION.md.

    results/prediction.py STUDY_FOLDER

Speed-up against the run of one worker / mean staleness / idle % of the workers' time, a row a protocol, a column a number
of workers. A speed is the sum of those of all workers while each makes its steps. Runs with a slow worker stand below.
"""
import argparse
import pathlib
import sys

try:
    from plotting.runs import read_folder
except ImportError as missing:
    sys.exit(f"{missing}: apt install python3-h5py python3-matplotlib, and run with /usr/bin/python3")

PARTS = ("compute", "data", "pull", "push", "poll", "wait")


def speed(run):
    """Images a second."""
    workers = run.ranks["samples"] > 0
    seconds = sum(run.ranks[part] for part in PARTS)
    return float((run.ranks["samples"][workers] / seconds[workers]).sum())


def cell(run, one_worker):
    staleness, idle = float(run.summary["staleness_mean"]), float(run.summary["idle_share"])
    return f"{speed(run) / one_worker:.1f} / {staleness:.0f} / {100 * idle:.0f}"


def straggler(run):
    """'rank 1 ×4'; empty: none is slower."""
    keys = dict(part.split("=") for part in str(run.config.get("straggler", "")).split(",") if "=" in part)
    return "" if float(keys.get("slow", 1)) == 1 else f"rank {keys.get('rank', '?')} ×{keys['slow']}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(runs):
    one_worker = [speed(run) for run in runs if run.workers == 1]
    if not one_worker:
        sys.exit("no run of one worker, which the others are compared with: add one to the study (protocol serial)")
    runs = [run for run in runs if run.workers > 1]
    counts = sorted({run.workers for run in runs})
    lines = [row(["", *map(str, counts)]), "|" + "---|" * (len(counts) + 1)]
    for slow in sorted({straggler(run) for run in runs}):
        if slow:
            lines.append(row([f"**{slow}**"] + [""] * len(counts)))
        chosen = {(run.config["protocol"], run.workers): run for run in runs if straggler(run) == slow}
        for protocol in dict.fromkeys(protocol for protocol, _ in chosen):
            lines.append(row([protocol] + [cell(chosen[protocol, count], one_worker[0])
                                           if (protocol, count) in chosen else "" for count in counts]))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    collection = read_folder(parser.parse_args().folder)
    print(table(collection.runs))
    for name, status, why in collection.problems:
        print(f"{name}: {status}{': ' + why if why else ''}", file=sys.stderr)


if __name__ == "__main__":
    main()
