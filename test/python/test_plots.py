"""results/plot.py: pictures, tables and the page of a study."""
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

import plot
from plotting import families, runs, scaling, staleness, tables
from studies import configuration, folder, plan
from studies_support import ROOT, WASP, make_data

STUDY = """# <b>A study</b> & its "plan"
out = "a 'study' ü"
nodes = [1, 2, 4]
batch = 8
seeds = [1, 2]
time-limit = 1
protocols = ["bsp", "wasp:period=4"]
[train]
data = "toy.h5"
model = "mlp"
samples = 160
eval-every = "4updates"
target-accuracy = 0.3
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def call(*words):
    """(exit code, standard output, standard error) of results/plot.py, within this process."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["plot.py", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            plot.main()
        code = 0
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def is_picture(path):
    png, pdf = (path.with_suffix(ending).read_bytes()[:4] for ending in (".png", ".pdf"))
    return (png, pdf) == (b"\x89PNG", b"%PDF")


class Study(unittest.TestCase):
    """One with a run that is missing, one that is damaged, and one that was killed."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        make_data("toy.h5")
        pathlib.Path("study.toml").write_text(STUDY, encoding="utf-8")
        study = configuration.read_study("study.toml")
        cls.planned = plan.runs_of(study)
        cls.out = folder.Folder(study.out)
        with cls.out.locked():
            cls.out.write_plan(study, cls.planned)
        for run in cls.planned:
            subprocess.run([WASP, "train", "--config", cls.out.config(run), "--out", cls.out.results(run), "--cluster",
                            f"threads:{run.ranks}", "--progress", "none"], check=True, capture_output=True)
        cls.missing, cls.damaged, cls.killed = cls.planned[-1], cls.planned[-2], cls.planned[-3]
        cls.out.results(cls.missing).unlink()
        cls.out.results(cls.damaged).write_bytes(cls.out.results(cls.damaged).read_bytes()[:5000])
        with h5py.File(cls.out.results(cls.killed), "r+") as file:
            file.attrs["status"] = "running"
        cls.out.log(cls.missing).write_text("first\nno space <left> on device\n")
        cls.code, cls.said, cls.complaints = call(study.out, "--out", "pictures")

    def collection(self):
        return runs.read_folder(self.out.path)

    def test_every_picture_is_drawn_as_png_and_pdf(self):
        self.assertEqual(self.code, 0, self.complaints)
        for name, *_ in plot.PICTURES:
            self.assertTrue(is_picture(pathlib.Path("pictures", name)), name)
            self.assertIn(f"{name}.png", self.said)

    def test_what_is_missing_damaged_or_killed_is_said_with_its_name(self):
        problems = {name: status for name, status, _ in self.collection().problems}
        self.assertEqual(problems, {self.missing.name: "missing", self.damaged.name: "damaged",
                                    self.killed.name: "running"})
        for name, status in problems.items():
            self.assertIn(f"{status}: {name}", self.complaints)

    def test_families_hold_all_sizes_of_a_protocol(self):
        found = families.families_of(families.siblings_of(self.collection().runs))
        self.assertEqual({family.label: [group.workers for group in family.members] for family in found},
                         {"BSP": [1, 2, 4], "WASP (reconstruction) period=4": [1, 2, 4]})
        for run in (everything := self.collection().runs):
            run.planned_batch = None  # as of files without a study: one batch in all, so it is strong scaling
        self.assertEqual(len(families.families_of(families.siblings_of(everything))), 2)

    def test_speedup_is_one_at_the_least_size_and_follows_the_summary(self):
        family = families.families_of(families.siblings_of(self.collection().runs))[0]
        workers, mean, deviation = scaling.speedups(family, "samples_per_second", lambda values: values)
        self.assertEqual(list(workers), [1, 2, 4])
        self.assertAlmostEqual(mean[0], 1)
        rates = [group.values("samples_per_second") for group in family.members]
        self.assertAlmostEqual(mean[1], rates[1].mean() / rates[0].mean())
        self.assertAlmostEqual(deviation[0], rates[0].std(ddof=1) / rates[0].mean())

    def test_quantiles_are_those_of_the_summary(self):
        for run in self.collection().runs:
            for share, name in ((0.5, "staleness_p50"), (0.95, "staleness_p95")):
                self.assertEqual(staleness.quantile(run.staleness, share), run.summary[name])

    def test_tables_have_a_row_for_siblings_and_what_differs(self):
        _, said, _ = call(self.out.path, "--tables")
        self.assertIn("| protocol | workers | batch | runs | reached |", said)
        self.assertRegex(said, r"\| bsp \| 1 \| 8 \| 2 \| \d/2 \|")
        self.assertEqual(said.count("| bsp |"), 3)

    def page(self):
        return pathlib.Path("pictures/index.html").read_text(encoding="utf-8")

    def test_the_page_has_all_within_itself(self):
        page = self.page()
        self.assertEqual(page.count('<img alt="'), len(plot.PICTURES))
        self.assertFalse(re.search(r'(?:src|href)="(?!data:)', page))
        self.assertIn("&lt;b&gt;A study&lt;/b&gt; &amp; its &quot;plan&quot;", page)
        self.assertIn("no space &lt;left&gt; on device", page)
        for run in (self.missing, self.damaged, self.killed):
            self.assertIn(f"<td>{run.name}</td>", page)
        self.assertIn("12 runs: 1 damaged, 9 finished, 1 missing, 1 running", page)

    @unittest.skipUnless(CHROMIUM, "needs Debian's package chromium")
    def test_a_browser_shows_all_pictures_without_a_complaint(self):
        count = ("<script>addEventListener('load', () => { document.title = 'shown ' + [...document.images].filter("
                 "one => one.complete && one.naturalWidth > 0).length; });</script></head>")
        pathlib.Path("counted.html").write_text(self.page().replace("</head>", count), encoding="utf-8")
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--enable-logging=stderr", f"--user-data-dir={pathlib.Path('browser').absolute()}", "--dump-dom",
             pathlib.Path("counted.html").absolute().as_uri()], capture_output=True, text=True, timeout=120)
        self.assertIn(f"<title>shown {len(plot.PICTURES)}</title>", done.stdout)
        self.assertNotIn("CONSOLE", done.stderr)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        make_data(cls.folder / "toy")
        subprocess.run([WASP, "train", "--data", cls.folder / "toy", "--model", "mlp", "--protocol", "nosync",
                        "--samples", "160", "--batch", "8", "--out", cls.folder / "run.h5", "--cluster", "threads:2",
                        "--progress", "none"], check=True, capture_output=True)

    def changed(self, name, change):
        path = self.folder / name
        shutil.copy(self.folder / "run.h5", path)
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    def test_one_run_is_drawn_without_what_takes_several_sizes(self):
        code, said, complaints = call(self.folder / "run.h5", "--out", self.folder / "one")
        self.assertEqual((code, complaints), (0, ""))
        for name in ("accuracy", "time", "time-shares"):
            self.assertTrue(is_picture(self.folder / "one" / name), name)
        for name in ("staleness", "scaling", "step-mass", "staleness-workers"):
            self.assertIn(f"{name}: nothing to draw it from", said)
        self.assertFalse((self.folder / "one/index.html").exists())

    def test_a_run_that_diverged_and_one_that_has_just_begun_are_no_trouble(self):
        def diverge(file):
            file["curve/test_accuracy"][-1] = numpy.nan
            file["config"].attrs["lr"] = 0.5

        def begin(file):
            for group in ("curve", "ranks"):
                for name in list(file[group]):
                    kind = file[group][name].dtype
                    del file[group][name]
                    file[group].create_dataset(name, (0,), kind)
            for group in ("config", "summary"):
                for name in list(file[group].attrs):
                    del file[group].attrs[name]
            file["staleness/total"][:] = 0

        code, _, complaints = call(self.folder / "run.h5", self.changed("diverged.h5", diverge),
                                   self.changed("new.h5", begin), "--out", self.folder / "many")
        self.assertEqual((code, complaints), (0, ""))
        code, said, _ = call(self.folder / "new.h5", "--out", self.folder / "new")
        self.assertEqual((code, said.count("nothing to draw it from")), (0, len(plot.PICTURES)))

    def test_other_files_are_refused_in_one_line(self):
        (self.folder / "text.h5").write_text("no HDF5\n")
        with h5py.File(self.folder / "other.h5", "w"):
            pass
        (self.folder / "empty").mkdir()
        for name in ("missing.h5", "text.h5", "other.h5", "empty"):
            code, _, complaints = call(self.folder / name, "--out", self.folder / "none")
            self.assertEqual((code, complaints.count("\n")), (2, 1), complaints)
            self.assertIn(name, complaints)

    def test_models_have_a_table_where_there_are_several(self):
        def diverge(file):  # 1 in the first quarter, 3 in the last
            steps = file["steps/divergence"]
            steps[:] = numpy.nan
            steps[0, 0], steps[-1, 0] = 1, 3

        table = tables.models_table(families.siblings_of([runs.Run(self.changed("apart.h5", diverge))]))
        self.assertIn("ensemble in %", table[0])
        self.assertRegex(table[1][table[0].index("ensemble in %")], r"^\d+\.\d\d$")

        self.assertEqual(table[1][table[0].index("divergence, first quarter"):][:2], ["1.00000", "3.00000"])

    def test_the_best_of_what_was_tuned_has_all_seeds(self):
        def made(lr, seed, samples):
            def change(file):
                file["config"].attrs["lr"] = lr
                file["config"].attrs["seed"] = seed
                file["summary"].attrs["samples_to_accuracy"] = samples
            return runs.Run(self.changed(f"{lr}-{seed}.h5", change))

        groups = families.siblings_of([made(0.1, 1, 50.0), made(0.2, 1, 40.0), made(0.2, 2, 90.0),
                                       made(0.4, 1, numpy.nan)])
        best = tables.best_of_tuned(groups, {"tuned": "lr", "tuned_by": "samples_to_accuracy"})
        self.assertEqual([(group.first.config["lr"], len(group.runs)) for group in best], [(0.2, 2)])
        self.assertIsNone(tables.best_of_tuned(groups, {"tuned": None}))

    def test_the_program_starts_and_explains_itself(self):
        done = subprocess.run([sys.executable, ROOT / "results/plot.py", "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("STUDY_FOLDER", done.stdout)
