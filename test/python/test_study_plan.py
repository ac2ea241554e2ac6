"""jobs/study: from a TOML file to the runs of a study."""
import math
import pathlib
import re
import tomllib

from studies import configuration, plan
from studies.faults import Fault
from studies.folder import Folder, toml_value
from studies_support import STUDY, InFolder, write_results

KNOWN = {"data", "model", "protocol", "lr", "batch", "epochs", "out", "momentum"}


class Configuration(InFolder):
    def refused(self, text, *parts):
        path = self.write(text)
        with self.assertRaises(Fault) as caught:
            plan.runs_of(configuration.read_study(path, KNOWN))
        for part in (str(path), *parts):
            self.assertIn(part, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def changed(self, old, new):
        self.assertIn(old, STUDY)
        return STUDY.replace(old, new)

    def test_unknown_keys_name_the_nearest(self):
        self.refused("node = 1\n" + STUDY, "'node'", "did you mean 'nodes'?", "known: ")
        self.refused(STUDY + "\n[slurm]\nconcurent = 1", "[slurm]", "did you mean 'concurrent'?")
        self.refused(self.changed("model =", "modle ="), "[train]", "did you mean 'model'?")
        self.refused(self.changed('["serial"]', '[{protocol = "bsp", lrr = 1}]'), "(bsp)", "did you mean 'lr'?")
        self.refused(STUDY + '\n[tune]\noption = "lr"\nsedes = 1', "[tune]", "did you mean 'seeds'?")

    def test_wrong_values_name_file_key_and_what_is_allowed(self):
        for old, new, *parts in (
                ("batch = 8", 'batch = "8"', "batch", "a whole number from 1, or a list"),
                ("batch = 8", "batch = 0", "batch"),
                ("batch = 8", "batch = true", "batch"),
                ("batch = 8", "batch = []", "batch", "empty"),
                ("seeds = [1, 2]", "seeds = [1, 1]", "seeds", "twice"),
                ("seeds = [1, 2]", "seeds = [-1]", "seeds", "from 0"),
                ("time-limit = 10", 'time-limit = "1:70"', "time-limit", "HH:MM:SS"),
                ("time-limit = 10", "time-limit = 0", "time-limit", "minutes"),
                ('out = "out"', "out = 3", "out", "a text in quotes"),
                ('"serial"', "{lr = 1}", "protocols", 'protocol = "NAME"'),
                ('"serial"', "3", "protocols", "a table"),
                ('["serial"]', "[]", "protocols", "empty"),
                ('["serial"]', '["bsp", "bsp"]', "the same run is there twice"),
                ("[train]", 'scaling = "both"\n[train]', "scaling", '"strong"', '"weak"'),
                ('model = "mlp"', 'out = "x.h5"', "[train]", "out", "at the top"),
                ('model = "mlp"', 'resume = "auto"', "[train]", "resume", "can't have it"),
                ('model = "mlp"', "lr = [0.1, 0.1]", "lr", "twice"),
                ('model = "mlp"', "lr = {a = 1}", "lr", "a number"),
                ("[train]", 'nodes = 3\n[train]', "batch 8", "3 workers", "weak"),
                ("[train]", '[slurm]\nconcurrent = 0\n[train]', "concurrent"),
                ("[train]", '[slurm]\nexclusive = 1\n[train]', "exclusive", "true or false"),
                ("[train]", '[tune]\noption = "lr"\nby = "accuracy"\n[train]', "by", "final_accuracy"),
                ("[train]", "[train", "study.toml")):
            with self.subTest(new):
                self.refused(self.changed(old, new), *parts)

    def test_missing_keys_and_files(self):
        for line in ("out = \"out\"", "batch = 8", "time-limit = 10", 'protocols = ["serial"]'):
            self.refused(self.changed(line, ""), re.split(" ", line)[0], "missing")
        with self.assertRaisesRegex(Fault, "none.toml: No such file"):
            configuration.read_study("none.toml")

    def test_times(self):
        for value, expected in ((5, 300), ("00:00:30", 30), ("2:00:00", 7200), ("1-00:00:00", 86400)):
            self.assertEqual(configuration.seconds("", value), expected)


class Runs(InFolder):
    def runs(self, text):
        return plan.runs_of(configuration.read_study(self.write(text)))

    def test_are_all_combinations_seed_by_seed(self):
        runs = self.runs(STUDY.replace('["serial"]', '["bsp", {protocol = "wasp", nodes = 4, threads = [1, 2]}]')
                         .replace("[train]", "nodes = [1, 2]\n[train]\nlr = [0.1, 0.2]"))
        self.assertEqual(len(runs), 2 * (2 * 2 + 2 * 2))
        self.assertEqual([run.seed for run in runs], [1] * 8 + [2] * 8)
        self.assertEqual(len({run.name for run in runs}), 16)
        self.assertTrue(all(run.ranks * run.options["batch"] == 8 for run in runs))

    def test_keep_the_batch_of_a_worker_where_scaling_is_weak(self):
        runs = self.runs('scaling = "weak"\nnodes = [1, 3]\n' + STUDY)
        self.assertEqual({run.options["batch"] for run in runs}, {8})

    def test_have_names_that_say_the_configuration_and_nothing_else(self):
        names = [run.name for run in self.runs(STUDY)]
        same = STUDY.replace("time-limit = 10", "time-limit = 20").replace('out = "out"', 'out = "b"')
        self.assertEqual([run.name for run in self.runs(same + "\n[slurm]\nconcurrent = 3")], names)
        self.assertEqual([run.name for run in self.runs(STUDY + "lr = 1")],
                         [run.name for run in self.runs(STUDY + "lr = 1.0")])
        for change in (STUDY + "lr = 1", STUDY.replace("= 8", "= 16"), STUDY.replace("mlp", "lenet5"),
                       "threads = 2\n" + STUDY, STUDY.replace("serial", "serial:a=1"), STUDY.replace("[1, 2]", "[3]")):
            self.assertFalse({run.name for run in self.runs(change)} & set(names))

    def test_have_names_of_harmless_letters(self):
        runs = self.runs(STUDY.replace("serial", "wasp:period=5,weight='ü x'/../$(a)"))
        for run in runs:
            self.assertRegex(run.name, r"^[A-Za-z0-9.=_-]+$")
            self.assertLess(len(run.name), 140)

    def test_do_not_share_a_name_when_it_is_cut(self):
        long = "x" * 200
        runs = self.runs(STUDY.replace('["serial"]', f'["{long}a", "{long}b"]'))
        self.assertEqual(len({run.name for run in runs}), 4)


class Tuning(InFolder):
    TEXT = STUDY.replace("[1, 2]", "[1, 2, 3]") + 'lr = [0.1, 0.2]\n[tune]\noption = "lr"\nseeds = [1, 2]\n'

    def planned(self, measure_of, text=TEXT):
        return plan.planned(configuration.read_study(self.write(text)), measure_of)

    def test_tries_all_values_first(self):
        runs, later = self.planned(lambda run: None)
        self.assertEqual(sorted((run.seed, run.options["lr"]) for run in runs),
                         [(1, 0.1), (1, 0.2), (2, 0.1), (2, 0.2)])
        self.assertEqual(later, 1)

    def test_waits_for_all_of_them(self):
        _, later = self.planned(lambda run: 5 if run.seed == 1 else None)
        self.assertEqual(later, 1)

    def test_then_runs_the_other_seeds_with_the_best(self):
        runs, later = self.planned(lambda run: run.options["lr"])
        self.assertEqual([run.options["lr"] for run in runs if run.seed == 3], [0.1])
        self.assertEqual((len(runs), later), (5, 0))

    def test_takes_what_never_got_there_for_the_worst(self):
        runs, _ = self.planned(lambda run: math.nan if run.options["lr"] == 0.1 and run.seed == 2 else 7)
        self.assertEqual([run.options["lr"] for run in runs if run.seed == 3], [0.2])
        higher = self.TEXT.replace("[tune]", '[tune]\nby = "final_accuracy"')
        runs, _ = self.planned(lambda run: run.options["lr"], higher)
        self.assertEqual([run.options["lr"] for run in runs if run.seed == 3], [0.2])

    def test_may_have_other_seeds_for_a_protocol(self):
        text = self.TEXT.replace('["serial"]', '[{protocol = "bsp", tune-seeds = 1}, "asp"]')
        runs, later = self.planned(lambda run: None, text)
        self.assertEqual((len(runs), later), (2 + 4, 2 + 1))

    def test_needs_one_of_its_seeds(self):
        with self.assertRaisesRegex(Fault, "none of its seeds"):
            self.planned(lambda run: None, self.TEXT.replace("seeds = [1, 2]\n", "seeds = [7]\n"))


class Files(InFolder):
    def setUp(self):
        super().setUp()
        self.described = configuration.read_study(self.write(STUDY))
        self.runs = plan.runs_of(self.described)
        self.out = Folder("out")

    def test_options_are_read_back_as_they_are(self):
        for value in (True, 3, 0.1, 1e-9, "a'b\"c\\d\nü\x7f\t$x", ""):
            self.assertEqual(tomllib.loads(f"a = {toml_value(value)}")["a"], value)

    def test_status_is_that_of_the_results(self):
        run = self.runs[0]
        pathlib.Path("out").mkdir()
        self.assertEqual(self.out.status(run), "missing")
        for status in ("running", "finished", "stopped", "failed", "diverged"):
            write_results(self.out.results(run), status, final_loss=2.0)
            self.assertEqual(self.out.status(run), status)
            over = status in ("finished", "diverged")
            self.assertEqual(self.out.measure(run, "final_loss"), 2.0 if over else None)
        self.out.results(run).write_bytes(self.out.results(run).read_bytes()[:300])
        self.assertEqual(self.out.status(run), "damaged")

    def test_what_a_run_left_is_kept_when_it_is_made_again(self):
        run, path = self.runs[0], self.out.results(self.runs[0])
        with self.out.locked():
            for content in ("first", "second"):
                path.write_text(content)
                self.out.make_room(run, "damaged")
                self.assertFalse(path.exists())
        kept = sorted(pathlib.Path("out/aside").iterdir())
        self.assertEqual([file.read_text() for file in kept], ["first", "second"])

    def test_what_has_a_checkpoint_stays_where_it_is(self):
        run, path = self.runs[0], self.out.results(self.runs[0])
        checkpoints = pathlib.Path(f"{path}.ckpt")
        checkpoints.mkdir(parents=True)
        (checkpoints / "step-3.h5").write_text("x")
        path.write_text("x")
        self.out.make_room(run, "stopped")
        self.assertTrue(path.exists())

    def test_only_one_works_on_a_study(self):
        self.assertFalse(self.out.is_locked())
        with self.out.locked():
            self.assertTrue(self.out.is_locked())
            with self.assertRaisesRegex(Fault, "another jobs/study is at work there: process"):
                with Folder("out").locked():
                    pass
        with self.out.locked():
            pass

    def test_the_plan_forgets_what_is_not_planned_any_more_and_was_never_run(self):
        with self.out.locked():
            self.out.write_plan(self.described, self.runs)
            write_results(self.out.results(self.runs[1]))
            self.out.write_plan(self.described, [])
        self.assertEqual([file.stem for file in pathlib.Path("out/runs").iterdir()], [self.runs[1].name])
