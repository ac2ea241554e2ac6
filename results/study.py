#!/usr/bin/python3
"""Compare all protocols on one data set, LeNet-5, several learning rates and seeds; print the tables of docs/STUDY.md.

    results/study.py DATA.h5 --out FOLDER [--ranks 4] [--seeds 3] [--for SECONDS] [--launcher 'mpiexec.mpich -n']

Runs whose results file in FOLDER is finished are not made again, so a study can be stopped and continued; with --for no
run is begun after so many seconds. Times mean something only where nothing else runs meanwhile.
"""
import argparse
import pathlib
import shlex
import subprocess
import sys
import time

import h5py
import numpy

RATES = (0.005, 0.01, 0.02, 0.04)
GATED = ("asp", "ssp", "dynsgd")
WASP = ("wasp", "wasp:weight=poly", "wasp:weight=mean", "wasp:mass=one", "wasp:trigger=versions")
OTHERS = ("serial", "bsp", "backup", "downpour", "softsync", "consgd", "dcasgd", "gapaware", "easgd", "eamsgd",
          "localsgd", "slowmo", "bmuf", "dpsgd", "adpsgd", "sgp", "lsgd", "nosync")
OWN_RATES = {"eamsgd": (0.0005, 0.001, 0.002)}  # its momentum is 0.99
SAMPLES, BATCH, TARGET, IMAGES_BETWEEN_EVALUATIONS = 180_000, 16, 0.98, 4096
# NoSync against independent models: so few training images that they can be learnt by heart.
FEW, FEW_EPOCHS, FEW_RATE = 5_000, 20, 0.01
NOSYNC = ("nosync", "nosync:p=0", "serial")


class Study:
    def __init__(self, options):
        self.options, self.folder = options, pathlib.Path(options.out)
        self.begin = time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, kind, spec, rate, seed):
        return self.folder / f"{kind} {spec} {rate} {seed}.h5".replace(" ", "_").replace(":", "_")

    def run(self, kind, spec, rate, seed, words):
        """One training, unless it is there. Returns whether time is left."""
        path = self.path(kind, spec, rate, seed)
        if read(path):
            return True
        if self.options.seconds and time.monotonic() - self.begin > self.options.seconds:
            return False
        path.unlink(missing_ok=True)
        ranks = 1 if spec == "serial" else self.options.ranks
        batch = BATCH * self.options.ranks if spec == "serial" and kind == "all" else BATCH  # those of all workers
        command = [*shlex.split(self.options.launcher), str(ranks), "bin/wasp", "train", "--data", self.options.data,
                   "--model", "lenet5", "--protocol", spec, "--batch", str(batch), "--lr", str(rate), "--momentum", "0.9",
                   "--lr-schedule", "cosine", "--threads", "1", "--seed", str(seed), "--target-accuracy", str(TARGET),
                   "--eval-every", f"{IMAGES_BETWEEN_EVALUATIONS // batch}updates", "--progress", "none",
                   "--out", str(path), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: diverged, which is a result
            sys.exit(f"{shlex.join(command)}\nended with code {done.returncode}:\n{done.stderr}")
        return True

    def make(self):
        """Seed by seed, so that a study that was cut short has something of everything."""
        for seed in range(1, self.options.seeds + 1):
            for spec in (*OTHERS, *GATED, *WASP):
                for rate in rates_of(spec) if seed <= grid_seeds(spec) else [self.best_rate(spec)]:
                    if not self.run("all", spec, rate, seed, ["--samples", str(SAMPLES)]):
                        return
            for spec in NOSYNC:
                if not self.run("few", spec, FEW_RATE, seed, ["--epochs", str(FEW_EPOCHS), "--validation",
                                                              str(images_in(self.options.data) - FEW)]):
                    return

    def runs(self, kind, spec, rate, seeds=None):
        found = [read(self.path(kind, spec, rate, seed)) for seed in range(1, (seeds or self.options.seeds) + 1)]
        return [run for run in found if run]


    def best_rate(self, spec):
        """That takes the fewest images to the target, in the mean of the seeds with which all were tried."""
        return min(rates_of(spec), key=lambda rate: images_to_target(self.runs("all", spec, rate, grid_seeds(spec))))


def rates_of(spec):
    return OWN_RATES.get(spec, RATES)


def grid_seeds(spec):
    """Seeds with which all learning rates are tried; with the others only the best is."""
    return 1 if spec in OTHERS else 2


def images_in(path):
    with h5py.File(path, "r") as data:
        return len(data["train/labels"])


def read(path):
    """The summary of a finished run, or None."""
    if not path.exists():
        return None
    with h5py.File(path, "r") as file:
        if file.attrs["status"] not in ("finished", "diverged"):
            return None
        run = dict(file["summary"].attrs)
        run["diverged"] = file.attrs["status"] == "diverged"
        if "models" in file:
            names = [name.decode() if isinstance(name, bytes) else name for name in file["models/name"][:]]
            run["models"] = dict(zip(names, file["models/test_accuracy"][:]))
        steps = file["steps/divergence"][:] if "steps/divergence" in file else numpy.empty((0, 0))
        quarters = numpy.array_split(steps, 4)
        run["spread_early"], run["spread_late"] = ((numpy.nanmean(q) if numpy.isfinite(q).any() else numpy.nan)
                                                   for q in (quarters[0], quarters[-1]))
        return run


def values(runs, name, factor=1.0):
    return numpy.array([factor * float(run.get(name, numpy.nan)) for run in runs])


def mean_sd(numbers, digits):
    """'mean ± sd' of those that are known."""
    known = numbers[numpy.isfinite(numbers)]
    if not len(known):
        return "–"
    sd = f" ± {known.std(ddof=1):.{digits}f}" if len(known) > 1 else ""
    return f"{known.mean():.{digits}f}{sd}"


def images_to_target(runs):
    """The mean; infinite if any run never got there."""
    samples = values(runs, "samples_to_accuracy")
    return numpy.where(numpy.isfinite(samples), samples, numpy.inf).mean() if len(samples) else numpy.inf


def row(spec, rate, runs):
    reached = sum(bool(run["reached"]) for run in runs)
    return (f"| `{spec}` | {rate} | {reached}/{len(runs)} | {mean_sd(values(runs, 'time_to_accuracy'), 2)} "
            f"| {mean_sd(values(runs, 'samples_to_accuracy', 1e-3), 1)} | {mean_sd(values(runs, 'updates_to_accuracy'), 0)} "
            f"| {mean_sd(values(runs, 'final_accuracy', 100), 2)} | {mean_sd(values(runs, 'staleness_mean'), 2)} "
            f"| {mean_sd(values(runs, 'staleness_p95'), 0)} | {mean_sd(values(runs, 'step_mass'), 2)} "
            f"| {mean_sd(values(runs, 'idle_share', 100), 0)} |")


HEAD = (f"| protocol | η | reached | s to {100 * TARGET:g} % | thousand images to it | updates to it | final accuracy in % "
        "| staleness | p95 | step mass | idle % |\n|---|---|---|---|---|---|---|---|---|---|---|")


def tables(study):
    lines = ["Each at the η that takes the fewest images to the target:", "", HEAD]
    for spec in (*OTHERS, *GATED, *WASP):
        best = study.best_rate(spec)
        if study.runs("all", spec, best):
            lines.append(row(spec, best, study.runs("all", spec, best)))
    lines += ["", "The grid of learning rates:", "", HEAD]
    for spec in (*GATED, *WASP):
        tried = {rate: study.runs("all", spec, rate, grid_seeds(spec)) for rate in RATES}
        lines += [row(spec, rate, runs) for rate, runs in tried.items() if runs]
    lines += ["", f"NoSync, {FEW:,} training images, {FEW_EPOCHS} epochs of each rank:", "",
              "| protocol | best by validation, % | mean model, % | ensemble, % | differing answers, % | spread of the weights "
              "| divergence, first quarter | last quarter | test loss − training loss |", "|" + "---|" * 9]
    for spec in NOSYNC:
        runs = study.runs("few", spec, FEW_RATE)
        models = [mean_sd(numpy.array([100 * run.get("models", {}).get(name, numpy.nan) for run in runs]), 2)
                  for name in ("best", "mean", "ensemble")]
        if runs and spec == "serial":
            models[0] = mean_sd(values(runs, "final_accuracy", 100), 2)
        if runs:
            lines.append(f"| `{spec}` | {' | '.join(models)} | {mean_sd(values(runs, 'disagreement', 100), 2)} "
                         f"| {mean_sd(values(runs, 'spread'), 3)} | {mean_sd(values(runs, 'spread_early'), 5)} "
                         f"| {mean_sd(values(runs, 'spread_late'), 5)} | {mean_sd(values(runs, 'train_test_gap'), 4)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--for", type=float, dest="seconds", metavar="SECONDS")
    parser.add_argument("--launcher", default="mpiexec.mpich -n")
    study = Study(parser.parse_args())
    study.make()
    print(tables(study))


if __name__ == "__main__":
    main()
