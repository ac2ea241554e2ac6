"""What the tests of studies share."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
WASP = os.environ.get("WASP", str(ROOT / "bin/wasp"))

STUDY = """
out = "out"
batch = 8
seeds = [1, 2]
time-limit = 10
protocols = ["serial"]
[train]
data = "toy.h5"
model = "mlp"
"""


def make_data(path):
    subprocess.run([WASP, "data", "synth", "--classes", "4", "--shape", "1,8,8", "--train", "80", "--test", "20",
                    "--out", path], check=True, capture_output=True)


class InFolder(unittest.TestCase):
    """In a folder of its own, whose name needs quotes everywhere."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "a 'b\" $c ü%d"
        self.folder.mkdir()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def write(self, text, name="study.toml"):
        pathlib.Path(name).write_text(text, encoding="utf-8")
        return pathlib.Path(name)

    def study(self, *words, environment=None):
        """jobs/study, as a user starts it."""
        command = [sys.executable, str(ROOT / "jobs/study"), *words, "--wasp", WASP]
        return subprocess.run(command, capture_output=True, text=True, timeout=240,
                              env=os.environ | (environment or {}))


def write_results(path, status="finished", **summary):
    with h5py.File(path, "w") as file:
        file.attrs["status"] = status
        file.create_group("summary").attrs.update(summary)
