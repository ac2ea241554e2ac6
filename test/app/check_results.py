#!/usr/bin/python3
"""Check what must hold in every results file of a finished run, as a user reads it with h5py.

usage: check_results.py FILE RANKS WORKERS SAMPLES LEAST_ACCURACY
       SAMPLES: that all workers together were to train on; prints the first thing that is wrong
"""
import sys

import h5py
import numpy as np

TIMES = ["compute", "pull", "push", "wait", "poll", "data"]


def check(holds, message):
    if not holds:
        sys.exit(message)


def check_curve(curve, summary, samples):
    columns = {name: curve[name][:] for name in curve}
    for name in ["seconds", "epoch", "samples", "version"]:
        check(np.all(np.diff(columns[name]) >= 0), f"curve/{name} goes back: {columns[name]}")
    accuracy = columns["test_accuracy"]
    check(len(accuracy) > 1, "no evaluations on the way")
    check(np.all((accuracy >= 0) & (accuracy <= 1)), f"accuracies {accuracy}")
    check(np.all(np.isfinite(columns["test_loss"])), f"losses {columns['test_loss']}")
    check(columns["samples"][-1] == samples, f"{columns['samples'][-1]} samples at the end")
    check(summary["final_accuracy"] == accuracy[-1], "final_accuracy is not the last one")
    check(summary["best_accuracy"] == accuracy.max(), "best_accuracy is not the best one")
    check(columns["seconds"][-1] <= summary["training_seconds"] * 1.001, "evaluated after the end")


def check_ranks(file, summary, ranks, workers, samples):
    seconds = summary["training_seconds"]
    rows = file["ranks"]
    check(len(rows["rank"]) == ranks, f"{len(rows['rank'])} ranks")
    check(summary["workers"] == workers, f"{summary['workers']} workers")
    check(rows["samples"][:].sum() == samples, f"samples {rows['samples'][:]}")
    check(np.count_nonzero(rows["samples"]) == workers, f"samples {rows['samples'][:]}")
    check(np.all(rows["samples"][:ranks - workers] == 0), "servers trained")
    check(summary["samples"] == samples, f"{summary['samples']} samples")
    spent = sum(rows[name][:] for name in TIMES)
    check(np.all(spent <= seconds * 1.01 + 0.005), f"{spent} s spent in {seconds} s")
    check(all(np.all(rows[name][:] >= 0) for name in TIMES), "negative times")
    check(abs(summary["samples_per_second"] * seconds / samples - 1) < 1e-6, "samples_per_second")


def check_staleness(file, summary):
    histogram = file["staleness/per_rank"][:]
    updates = file["ranks/updates"][:]
    check(np.array_equal(histogram.sum(axis=1), updates), f"histogram {histogram}, {updates}")
    check(np.array_equal(file["staleness/total"][:], histogram.sum(axis=0)), "staleness/total")
    check(summary["updates"] == updates.sum(), "updates")
    if file["config"].attrs["protocol"].split(":")[0] in {"serial", "asp", "ssp", "wasp"}:
        version = file["curve/version"][-1]
        check(version == updates.sum(), f"version {version} after {updates.sum()} updates")


def check_steps(file):
    steps = file["steps"]
    loss, seconds = steps["loss"][:], steps["seconds"][:]
    check(loss.shape == (len(steps["step"]), len(file["ranks/rank"])), f"steps {loss.shape}")
    made = np.isfinite(loss)
    check(np.array_equal(made, np.isfinite(seconds)), "steps with a loss and no time")
    check(np.all(np.diff(seconds, axis=0)[made[1:]] > 0), "time stands still in steps")
    check(np.all(steps["staleness"][:][made] >= 0), "negative staleness")


def main(path, ranks, workers, samples, least_accuracy):
    with h5py.File(path) as file:
        summary = dict(file["summary"].attrs)
        check(file.attrs["status"] == "finished", f"status {file.attrs['status']}")
        check_curve(file["curve"], summary, samples)
        check_ranks(file, summary, ranks, workers, samples)
        check_staleness(file, summary)
        check_steps(file)
        check(summary["best_accuracy"] >= least_accuracy,
              f"best accuracy {summary['best_accuracy']}: {file['curve/test_accuracy'][:]}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5]))
