"""What jobs/train.sbatch does on a real Slurm. To be run by cluster.sh, on four nodes of two cores.
usage: cases.py WASP MPIEXEC [REGEXP]     those whose names it fits; ends with the line 'N passed, N failed'
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERN = sys.argv[3] if len(sys.argv) > 3 else ""
WASP, MPIEXEC = (os.path.abspath(word) if "/" in word else word for word in sys.argv[1:3])
CLUSTER = pathlib.Path(os.environ["CLUSTER"])
WORK = CLUSTER / "work"
NAMESPACES = os.environ["CLUSTER_KIND"] == "namespaces"
PATIENCE = 240  # seconds for anything; other work on the machine may take turns with ours
ENDLESS = 10**9


def run(*words, check=True, **more):
    return subprocess.run([str(word) for word in words], check=check, text=True, capture_output=True, **more)


def wait_until(done, what):
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
        time.sleep(0.2)


class Job:
    """A job of jobs/train.sbatch, or of another script."""

    def __init__(self, sbatch, options, script=ROOT / "jobs/train.sbatch", environment=None):
        self.log = WORK / f"{time.monotonic_ns()}.log"
        words = ["sbatch", "--parsable", "--time=10", f"--output={self.log}", *sbatch, script, *options]
        more = {"WASP_HOME": str(ROOT), "WASP_PROGRAM": WASP, "WASP_SITE": "debian"} | (environment or {})
        self.id = run(*words, cwd=WORK, env=os.environ | more).stdout.strip()

    def fact(self, name):
        text = run("scontrol", "show", "job", self.id).stdout
        return re.findall(rf"\b{name}=(\S+)", text)[-1]

    def output(self):
        return self.log.read_text() if self.log.exists() else ""

    def wait(self, state="COMPLETED"):
        ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")
        wait_until(lambda: self.fact("JobState") in ended, f"job {self.id} to end")
        assert self.fact("JobState") == state, f"{self.fact('JobState')}, not {state}"
        return self

    def wait_for_output(self, text):
        wait_until(lambda: text in self.output(), f"{text!r} in the output of job {self.id}")


def training(out, protocol, *more):
    """Options of a small run."""
    return ["--data", CLUSTER / "data.h5", "--model", "lenet5", "--protocol", protocol, "--batch", "16", "--out", out,
            "--threads", "1", "--eval", "none", "--progress", "plain", *more]


def short(out, protocol="bsp"):
    return training(out, protocol, "--updates", "64")


def until_stopped(out, protocol="bsp"):
    return training(out, protocol, "--checkpoint-every", "1seconds", "--stall-timeout", "10")


def results(out):
    with h5py.File(out) as file:
        facts = dict(file["summary"].attrs) | dict(file["provenance"].attrs)
        return facts | {"status": file.attrs["status"]}


def check_finished(out, ranks, nodes):
    facts = results(out)
    assert facts["status"] == "finished", facts["status"]
    assert (facts["ranks"], facts["nodes"]) == (ranks, nodes), (facts["ranks"], facts["nodes"])
    if NAMESPACES:
        assert len(set(facts["hosts"].split(","))) == nodes, facts["hosts"]
    return facts


class JobToTheEnd(Job):
    """Endless at first; when it starts again it has only 30 steps left."""

    def __init__(self, out, nodes, *sbatch, protocol="bsp", environment=None):
        script = WORK / f"{out.name}.sbatch"
        script.write_text("""#!/bin/bash
#SBATCH --requeue --open-mode=append --exclusive
out=$1; shift
if ((${SLURM_RESTART_COUNT:-0} == 0)); then
    updates=1000000000
elif [[ ! -e $out.goal ]]; then
    for file in "$out".ckpt/step-*.h5; do step=${file##*/step-}; done
    echo $(((10#${step%.h5} + 30) * SLURM_JOB_NUM_NODES)) > "$out.goal"
fi
set -- "$@" --updates "${updates:-$(< "$out.goal")}"
. "$WASP_HOME/jobs/train.sbatch"
""")
        self.out, self.nodes = out, nodes
        super().__init__([f"--nodes={nodes}", "--ntasks-per-node=1", *sbatch],
                         [out, *until_stopped(out, protocol)], script, environment)

    def check_resumed(self):
        self.wait()
        assert int(self.fact("Restarts")) >= 1, "was not requeued"
        check_finished(self.out, self.nodes, self.nodes)
        before, after = (re.findall(r"epoch ([0-9.]+)/", part)
                         for part in re.split("start number [23]", self.output())[:2])
        assert float(after[0]) > 0.5 * float(before[-1]), f"began anew: {before}, then {after}"


# ---- the cases ----

def protocols_on_nodes(nodes, protocol):
    def case():
        out = WORK / f"{protocol}-{nodes}.h5"
        job = Job([f"--nodes={nodes}", "--ntasks-per-node=1"], short(out, protocol)).wait()
        check_finished(out, nodes, nodes)
        assert "srun" in job.output().split("\n")[1], "does not say first what it runs"
    case.__name__ = f"{protocol}_on_{nodes}_nodes"
    return case


def bytes_through_cables():
    links = json.loads(run("ip", "-json", "-stats", "link", "show").stdout)
    return sum(link["stats64"]["rx"]["bytes"] for link in links if link["ifname"].startswith("node"))


def gradients_go_through_the_network():
    before = bytes_through_cables()
    out = WORK / "cables.h5"
    Job(["--nodes=2", "--ntasks-per-node=1"], short(out, "asp")).wait()
    went = bytes_through_cables() - before
    updates, weights = results(out)["updates"], 61706
    # Of two shards one is on the other node: each update is half a gradient there, and half of the weights back.
    assert went > updates * weights * 4 * 0.9, f"{went} bytes for {updates} updates"


def ranks_share_nodes_and_are_bound():
    out = WORK / "bound.h5"
    Job(["--nodes=2", "--ntasks-per-node=2", "--cpus-per-task=1"], short(out, "wasp")).wait()
    facts = check_finished(out, ranks=4, nodes=2)
    if os.cpu_count() >= 2:
        assert facts["binding"] == "0;1;0;1", facts["binding"]


def mpiexec_inside_of_the_allocation():
    out = WORK / "mpiexec.h5"
    job = Job(["--nodes=2", "--ntasks-per-node=2"], short(out, "wasp"),
              environment={"WASP_LAUNCHER": "mpiexec", "WASP_MPIEXEC": MPIEXEC}).wait()
    check_finished(out, ranks=4, nodes=2)
    assert "mpiexec" in job.output().split("\n")[1]


def any_name_will_do():
    folder = WORK / "a 'b' \"c\"\n$d é 神经; #"
    folder.mkdir()
    out = folder / "*run* `x`.h5"
    Job(["--job-name=ein 'Job'\n\"神经\" $HOME", "--ntasks=2"], short(out)).wait()
    check_finished(out, ranks=2, nodes=1)


def tasks_of_an_array_have_files_of_their_own():
    Job(["--array=1-3%2", "--ntasks-per-node=1"],
        [*short(WORK / "task-{task}.h5", "wasp"), "--seed", "{task}"]).wait()
    wait_until(lambda: all((WORK / f"task-{task}.h5").exists() for task in (1, 2, 3)), "all tasks")
    for task in (1, 2, 3):
        wait_until(lambda: results(WORK / f"task-{task}.h5")["status"] != "running", f"task {task}")
        assert check_finished(WORK / f"task-{task}.h5", 1, 1)["seed"] == task


def doctor_knows_launchers_nodes_and_binding():
    script = WORK / "doctor.sbatch"
    script.write_text("""#!/bin/bash
doctor=("$1" doctor --seconds 0.05 --strict)
srun --mpi=pmi2 --cpu-bind=cores "${doctor[@]}" && "$2" -n 4 -ppn 2 -bind-to core "${doctor[@]}"
""")
    job = Job(["--nodes=2", "--ntasks-per-node=2", "--exclusive"], [WASP, MPIEXEC], script).wait()
    for seen in ("launcher: srun, 4 process(es), PMI", "launcher: mpiexec, 4 process(es), PMI"):
        assert seen in job.output(), f"{seen} is not in\n{job.output()}"
    assert len(re.findall(r"4 rank\(s\) on 2 node\(s\)", job.output())) == 2, job.output()
    assert len(re.findall(r"a rank of another node +[0-9.]+ ", job.output())) == 2, job.output()
    if os.cpu_count() >= 2:  # rank, node, host, cores, threads, CPUs
        assert re.findall(r"^ +3 +1 +\S+ +1 +1 +1$", job.output(), re.M), job.output()


def what_is_wrong_is_not_requeued():
    job = Job(["--ntasks-per-node=1"], ["--data", "missing.h5", "--out", WORK / "wrong.h5", "--epochs", "1"]).wait("FAILED")
    assert (job.fact("ExitCode"), job.fact("Restarts")) == ("2:0", "0")
    assert "missing.h5" in job.output()


def ranks_that_know_nothing_of_each_other_are_refused():
    out = WORK / "alone.h5"
    job = Job(["--nodes=2", "--ntasks-per-node=1"], short(out), environment={"WASP_PMI": "none"})
    job.wait("FAILED")
    assert "2 programs of one rank were started" in job.output(), job.output()
    assert job.fact("ExitCode") == "2:0", job.fact("ExitCode")
    assert not out.exists()


def at_the_time_limit_a_job_is_requeued_and_resumed():
    JobToTheEnd(WORK / "limit.h5", 2, "--time=1", "--signal=B:USR1@50").check_resumed()


def a_signal_before_the_limit_may_go_to_the_ranks():
    JobToTheEnd(WORK / "signal.h5", 2, "--time=1", "--signal=USR1@50", protocol="wasp").check_resumed()


def a_job_without_checkpoints_is_not_begun_again_and_again():
    out = WORK / "anew.h5"
    job = Job(["--ntasks-per-node=2", "--time=1", "--signal=B:USR1@50"],
              [*training(out, "nosync:groups=2,inner=backup"), "--updates", ENDLESS]).wait("FAILED")
    assert "not again" in job.output(), job.output()
    assert (job.fact("ExitCode"), job.fact("Restarts")) == ("75:0", "0")
    assert results(out)["status"] == "stopped"


def a_cancelled_job_keeps_its_results():
    out = WORK / "cancelled.h5"
    job = Job(["--nodes=2", "--ntasks-per-node=1"], [*until_stopped(out), "--updates", ENDLESS])
    job.wait_for_output("epoch")
    run("scancel", job.id)
    job.wait("CANCELLED")
    wait_until(lambda: not run("squeue", "-h", "-j", job.id, check=False).stdout, "the job to be gone")
    assert results(out)["status"] == "stopped", results(out)["status"]
    assert "requeued" not in job.output()
    assert list(out.with_name("cancelled.h5.ckpt").iterdir())


def nodes_of(job):
    return run("scontrol", "show", "hostnames", job.fact("NodeList")).stdout.split()


def a_job_that_loses_a_node_is_requeued_and_resumed():
    job = JobToTheEnd(WORK / "lost.h5", 2)
    job.wait_for_output("epoch")
    wait_until(lambda: list(WORK.glob("lost.h5.ckpt/step-*")), "a checkpoint")
    power_cut(nodes_of(job)[1])
    job.check_resumed()


def power_cut(node):
    os.kill(int((CLUSTER / f"{node}.pid").read_text()), 9)


class Study:
    """Of two protocols with two seeds, and what jobs/study says of it."""

    def __init__(self, name, nodes, length):
        self.folder = WORK / f"study '{name}' ü"
        self.file = WORK / f"{name}.toml"
        self.file.write_text(f"""
out = "{self.folder}"
nodes = {nodes}
batch = 16
seeds = [1, 2]
time-limit = 5
protocols = ["bsp", "wasp:trigger=versions"]
[train]
data = "{CLUSTER}/data.h5"
model = "lenet5"
updates = {length}
[slurm]
concurrent = 2
exclusive = false
""")

    def call(self, *words):
        return run(sys.executable, ROOT / "jobs/study", *words, self.file, "--wasp", WASP, cwd=WORK,
                   env=os.environ | {"WASP_SITE": "debian"}).stdout

    def wait_for(self, status):
        wait_until(lambda: status in self.call("status"), f"{status!r} of {self.folder}")


def a_study_runs_as_arrays_fills_its_gaps_and_becomes_a_page():
    study = Study("scaling", [1, 2, 4], 64)
    scripts = re.split(r"^(?=#!)", study.call("--dry-run"), flags=re.MULTILINE)[1:]
    assert len(scripts) == 3, scripts
    for script in scripts:
        said = run("sbatch", "--test-only", input=script)
        assert "to start at" in said.stderr, said
    study.call()
    study.wait_for("12 runs: 12 finished")
    results_files = sorted(study.folder.glob("*.h5"))
    sizes = sorted(check_finished(out, ranks, ranks)["ranks"]
                   for out in results_files for ranks in [results(out)["ranks"]])
    assert sizes == [1] * 4 + [2] * 4 + [4] * 4, sizes

    results_files[0].unlink()
    merged = run(WASP, "results", "merge", study.folder)
    assert len(merged.stdout.splitlines()) == 13 and "12 runs: 11 finished, 1 missing" in merged.stderr, merged.stderr
    assert "1 runs on" in study.call()
    study.wait_for("12 runs: 12 finished")

    pictures = study.folder / "pictures"
    run(sys.executable, ROOT / "results/plot.py", study.folder, "--out", pictures)
    assert (pictures / "scaling.png").exists()
    assert "12 runs: 12 finished" in (pictures / "index.html").read_text()


def a_study_can_be_cancelled_and_goes_on_later():
    study = Study("endless", 2, ENDLESS)
    study.call()
    wait_until(lambda: list(study.folder.glob("*.h5")), "a run to begin")
    assert "4 runs" in study.call("status")
    assert "cancelled: " in study.call("cancel")
    wait_until(lambda: not re.search("queued|running", study.call("status")), "the jobs to be gone")
    assert "no jobs" in study.call("cancel")


SIDE_BY_SIDE = [
    a_study_runs_as_arrays_fills_its_gaps_and_becomes_a_page,
    a_study_can_be_cancelled_and_goes_on_later,
    at_the_time_limit_a_job_is_requeued_and_resumed,
    a_signal_before_the_limit_may_go_to_the_ranks,
    *(protocols_on_nodes(nodes, protocol) for nodes in (1, 2, 4) for protocol in ("wasp", "bsp", "nosync")),
    ranks_share_nodes_and_are_bound,
    mpiexec_inside_of_the_allocation,
    any_name_will_do,
    doctor_knows_launchers_nodes_and_binding,
    tasks_of_an_array_have_files_of_their_own,
    what_is_wrong_is_not_requeued,
    ranks_that_know_nothing_of_each_other_are_refused,
    a_job_without_checkpoints_is_not_begun_again_and_again,
    a_cancelled_job_keeps_its_results,
]
ALONE = [gradients_go_through_the_network, a_job_that_loses_a_node_is_requeued_and_resumed]


def passes(case):
    start = time.monotonic()
    try:
        case()
    except Exception:
        error = traceback.format_exc(limit=3)
    else:
        error = ""
    print(f"{'FAILED' if error else 'ok    '} {case.__name__} ({time.monotonic() - start:.0f} s)", error, flush=True)
    return not error


def main():
    WORK.mkdir()
    run(WASP, "data", "synth", "--classes", "4", "--shape", "1,28,28", "--train", "640", "--test", "64", "--out",
        CLUSTER / "data.h5")
    side_by_side, alone = ([case for case in cases if re.search(PATTERN, case.__name__)] for cases in (SIDE_BY_SIDE, ALONE))
    if not side_by_side + alone:
        sys.exit(f"no case fits {PATTERN!r}")
    with concurrent.futures.ThreadPoolExecutor(len(SIDE_BY_SIDE)) as pool:
        verdicts = list(pool.map(passes, side_by_side))
    if NAMESPACES:
        verdicts += map(passes, alone)
    else:
        print("left out, as no network namespaces can be made here:", ", ".join(case.__name__ for case in alone))
    if not all(verdicts):
        for log in sorted(WORK.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text()[-3000:]}")
    print(f"{verdicts.count(True)} passed, {verdicts.count(False)} failed")
    return 0 if all(verdicts) else 1


sys.exit(main())
