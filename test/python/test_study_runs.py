"""jobs/study: running studies, on this machine and on a Slurm of a few lines."""
import os
import pathlib
import re
import shutil
import subprocess

import h5py

from studies_support import STUDY, InFolder, make_data, write_results

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results"


class Local(InFolder):
    def setUp(self):
        super().setUp()
        make_data("toy ü'd.h5")
        self.write(STUDY.replace("toy.h5", "toy ü'd.h5") + "epochs = 1\n", "a 'study'.toml")
        self.words = ("a 'study'.toml", "--local", "--launcher", "")

    def results(self):
        return {path.name: path.stat().st_mtime_ns for path in sorted(pathlib.Path("out").glob("*.h5"))}

    def test_a_study_is_run_once_and_then_only_its_gaps(self):
        done = self.study(*self.words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("out: 2 runs: 2 finished", done.stdout)
        first = self.results()
        self.assertEqual(len(first), 2)
        for name in first:
            with h5py.File(pathlib.Path("out") / name) as file:
                self.assertEqual(file["config"].attrs["protocol"], "serial")
                self.assertEqual(file["config"].attrs["data"], "toy ü'd.h5")

        again = self.study(*self.words)
        self.assertEqual((again.returncode, again.stdout), (0, "out: 2 runs: 2 finished\n"))
        self.assertEqual(self.results(), first)

        gap, kept = first
        (pathlib.Path("out") / gap).write_bytes(b"not a results file")
        status = self.study("status", "a 'study'.toml")
        self.assertIn("2 runs: 1 damaged, 1 finished", status.stdout)
        filled = self.study(*self.words)
        self.assertEqual(filled.returncode, 0)
        self.assertIn("[1/1] " + gap.removesuffix(".h5"), filled.stdout)
        self.assertEqual(self.results()[kept], first[kept])
        self.assertEqual(len(list(pathlib.Path("out/aside").iterdir())), 1)

    def test_a_study_is_predicted_in_a_folder_of_its_own(self):
        text = STUDY.replace("toy.h5", "toy ü'd.h5").replace('["serial"]', '["serial", {protocol = "bsp", nodes = 2}]')
        self.write(text.replace("[1, 2]", "[1]") + "epochs = 1\n", "b.toml")
        done = self.study("b.toml", "--predict", "xeon-ib,jitter=0")
        if any("SIMGRID=0" in log.read_text() for log in pathlib.Path("out-predicted/logs").glob("*")):
            self.skipTest("built without SimGrid")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(pathlib.Path("out").exists())
        result, = pathlib.Path("out-predicted").glob("bsp*.h5")
        with h5py.File(result) as file:
            self.assertEqual(file["config"].attrs["cluster"], "sim:xeon-ib,ranks=2,ranks-per-node=1,jitter=0")
            self.assertIn("bandwidth=1.21e+10", file["provenance"].attrs["cluster"])
        table = subprocess.run([RESULTS / "prediction.py", "out-predicted"], capture_output=True, text=True)
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        self.assertRegex(table.stdout, r"\| bsp \| [0-9.]+ / 0 / [0-9]+ \|")

    def test_a_run_that_fails_is_said_and_the_others_are_made(self):
        self.write(STUDY.replace('["serial"]', '["serial:x=1", "serial"]').replace("toy.h5", "toy ü'd.h5")
                   + "epochs = 1\n")
        done = self.study("study.toml", *self.words[1:])
        self.assertEqual(done.returncode, 1)
        self.assertIn("4 runs: 2 finished, 2 missing", done.stdout)
        log = next(pathlib.Path("out/logs").glob("serial-x=1*.log")).read_text()
        self.assertIn("serial:x=1", log)

    def test_what_takes_too_long_is_stopped_and_goes_on_next_time(self):
        text = STUDY.replace("toy.h5", "toy ü'd.h5").replace("time-limit = 10", 'time-limit = "00:00:02"').replace(
            "[1, 2]", "[1]")
        self.write(text + "updates = 1000000000\n")
        done = self.study("study.toml", *self.words[1:])
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 stopped", done.stdout)
        self.study("study.toml", *self.words[1:])
        log = next(pathlib.Path("out/logs").glob("*.log")).read_text()
        self.assertEqual(log.count("$ "), 2)
        self.assertIn("--resume auto", log)
        self.assertFalse(pathlib.Path("out/aside").exists())

    def test_what_is_tuned_is_tuned_and_then_run_with_the_other_seeds(self):
        self.write(STUDY.replace("toy.h5", "toy ü'd.h5") + 'epochs = 1\nlr = [0.01, 1e-9]\n'
                   '[tune]\noption = "lr"\nby = "final_loss"\n')
        done = self.study("study.toml", *self.words[1:])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("3 runs: 3 finished", done.stdout)
        self.assertEqual([name.split("_")[3] for name in sorted(self.results()) if "_s2_" in name], ["lr=0.01"])

    def test_what_is_tuned_and_fails_is_not_tried_for_ever(self):
        self.write(STUDY.replace("toy.h5", "none.h5") + 'epochs = 1\nlr = [0.01, 1e-9]\n[tune]\noption = "lr"\n')
        done = self.study("study.toml", *self.words[1:])
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 runs: 2 missing\n1 more are known when", done.stdout)

    def test_no_run_is_begun_when_the_time_is_over(self):
        done = self.study(*self.words, "--for", "0")
        self.assertEqual((done.returncode, done.stdout), (1, "out: 2 runs: 2 missing\n"))


SLURM = {
    "sbatch": """#!/bin/sh
for script; do :; done
echo $(($(cat jobs.count) + 1)) > jobs.count
cp "$script" "$(cat jobs.count).script"
echo "$*" > "$(cat jobs.count).words"
cat jobs.count
""",
    "squeue": "#!/bin/sh\ncat queue\n",
    "scancel": '#!/bin/sh\necho "$*" >> cancelled\n',
}


class Slurm(InFolder):
    def setUp(self):
        super().setUp()
        self.write(STUDY + "epochs = 1\n[slurm]\nconcurrent = 3\noptions = [\"--partition=work\"]\n")
        for name, script in SLURM.items():
            pathlib.Path("slurm").mkdir(exist_ok=True)
            pathlib.Path("slurm", name).write_text(script)
            pathlib.Path("slurm", name).chmod(0o755)
        pathlib.Path("jobs.count").write_text("0")
        pathlib.Path("queue").write_text("")
        self.environment = {"PATH": f"{pathlib.Path('slurm').absolute()}:{os.environ['PATH']}"}

    def call(self, *words):
        return self.study(*words, environment=self.environment)

    def test_only_gaps_are_submitted_and_nothing_twice(self):
        first = self.call("study.toml")
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        script = pathlib.Path("1.script").read_text()
        for line in ("--array=0-1%3", "--time=0-00:10:00", "--partition=work", "--nodes=1", "--cpus-per-task=1"):
            self.assertIn(f"#SBATCH {line}\n", script)
        self.assertEqual(subprocess.run(["bash", "-n", "1.script"]).returncode, 0)
        self.assertIn("ü%%d/out/logs/slurm.log", pathlib.Path("1.words").read_text())

        pathlib.Path("queue").write_text("1 0 RUNNING\n1 1 PENDING\n7 0 PENDING\n")
        again = self.call("study.toml")
        self.assertIn("2 runs: 1 queued, 1 running", again.stdout)
        self.assertEqual(pathlib.Path("jobs.count").read_text().strip(), "1")

        names = re.findall(r"^serial\S+", script, re.MULTILINE)
        write_results(f"out/{names[0]}.h5")
        write_results(f"out/{names[1]}.h5", "running")  # and the job is gone
        pathlib.Path("queue").write_text("")
        self.assertIn("1 finished, 1 killed", self.call("status", "study.toml").stdout)
        self.call("study.toml")
        gaps = pathlib.Path("2.script").read_text()
        self.assertIn("--array=0-0%3", gaps)
        self.assertIn(names[1], gaps)
        self.assertNotIn(names[0], gaps)

    def test_its_jobs_are_cancelled_and_no_others(self):
        self.call("study.toml")
        self.assertIn("no jobs", self.call("cancel", "study.toml").stdout)
        pathlib.Path("queue").write_text("1 1 RUNNING\n7 0 PENDING\n")
        self.assertIn("cancelled: 1", self.call("cancel", "study.toml").stdout)
        self.assertEqual(pathlib.Path("cancelled").read_text(), "1\n")

    def test_a_dry_run_prints_the_same_scripts_and_leaves_nothing(self):
        said = self.call("study.toml", "--dry-run").stdout
        self.assertIn("2 runs to do: 0.3 node-hours", said)
        self.assertFalse(pathlib.Path("out").exists())
        self.call("study.toml")
        self.assertIn(pathlib.Path("1.script").read_text(), said)

    def test_a_script_runs_train_sbatch_with_the_files_of_its_task(self):
        self.call("study.toml")
        home = self.folder / "home"
        (home / "jobs").mkdir(parents=True)
        (home / "jobs/train.sbatch").write_text('printf "%s\\n" "$@"\n')
        script = re.sub("(?m)^export WASP_HOME=.*$", "export WASP_HOME=$PWD/home", pathlib.Path("1.script").read_text())
        subprocess.run(["bash", "-c", script], check=True, env=os.environ | {"SLURM_ARRAY_TASK_ID": "1"})
        name = re.findall(r"^serial\S+", script, re.MULTILINE)[1]
        out = self.folder / "out"
        self.assertEqual(pathlib.Path(out, "logs", f"{name}.log").read_text().splitlines(),
                         ["--config", f"{out}/runs/{name}.toml", "--progress", "plain", "--out", f"{out}/{name}.h5"])

    def test_without_slurm_one_line_says_so(self):
        tools = self.folder / "tools"
        tools.mkdir()
        done = self.study("study.toml", environment={"PATH": str(tools)})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^jobs/study: error: sbatch: not found.*--local.*\n$")


class Example(InFolder):
    def test_studies_that_come_with_the_program_are_good(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        studies = sorted((root / "jobs").glob("*.toml"))
        self.assertTrue(studies)
        for path in studies:
            shutil.copy(path, "copy.toml")
            done = self.study("copy.toml", "--dry-run")
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)
