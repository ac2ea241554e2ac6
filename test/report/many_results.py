#!/usr/bin/python3
"""Time and memory that `wasp results merge|csv|show` take for a study of thousands of runs.

    test/report/many_results.py [--wasp bin/wasp] [--count 2000] [--folder FOLDER]

A run on 8 ranks is made, and copied with other seeds; one copy is cut short, and one is only planned. Prints a line for
each command; the limits that are asked for are 10 s and 500 MB for 2,000 runs.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import h5py


def make_template(wasp, folder):
    data, run = folder / "toy.data", folder / "template"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([wasp, "data", "synth", "--classes", "4", "--shape", "1,8,8", "--train", "16000", "--test", "100",
                    "--out", data], **quiet)
    subprocess.run([wasp, "train", "--data", data, "--model", "mlp", "--protocol", "wasp", "--batch", "4", "--epochs",
                    "2", "--threads", "1", "--cluster", "threads:8", "--eval-every", "80updates", "--progress", "none",
                    "--out", run], **quiet)
    return run


def make_study(template, folder, count):
    (folder / "runs").mkdir()
    content = template.read_bytes()
    for number in range(count):
        path = folder / f"run-{number:05}.h5"
        path.write_bytes(content)
        with h5py.File(path, "r+") as run:
            run["config"].attrs.modify("seed", number)
    path.write_bytes(content[:len(content) // 2])
    (folder / "runs" / "planned.toml").write_text("seed = 1\n")


def measure(command):
    """(seconds, peak MB, lines of output, exit code)"""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = child.stdout.read().count(b"\n")
    _, status, usage = os.wait4(child.pid, 0)
    return time.monotonic() - start, usage.ru_maxrss / 1024, lines, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wasp", default="bin/wasp")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--folder", type=pathlib.Path, help="with a study made before, or for a new one that stays")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        study = options.folder or pathlib.Path(scratch) / "study"
        if not study.exists():
            study.mkdir(parents=True)
            template = make_template(options.wasp, pathlib.Path(scratch))
            make_study(template, study, options.count)
            print(f"{options.count} files of {template.stat().st_size >> 10} KiB")
        for command in ("merge", "csv", "show"):
            seconds, megabytes, lines, code = measure([options.wasp, "results", command, study])
            print(f"wasp results {command}: {seconds:.1f} s, {megabytes:.0f} MB, {lines} lines, exit code {code}")
            if code != 2:  # there is a damaged file
                sys.exit(f"expected exit code 2, as one file is damaged; got {code}")


if __name__ == "__main__":
    main()
