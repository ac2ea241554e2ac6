"""Runs as job arrays of Slurm: one array a shape (nodes, ranks, threads), one task a run."""
import json
import os
import re
import shlex
import subprocess

from .faults import Fault
from .folder import write_aside

MOST_TASKS = 1000  # of an array: Slurm's own default, MaxArraySize, is 1001

SCRIPT = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={per_node}
#SBATCH --cpus-per-task={threads}
#SBATCH --time={time}
#SBATCH --array=0-{last}{limit}
#SBATCH --signal=B:USR1@{notice}
#SBATCH --requeue
#SBATCH --open-mode=append
{further}# Written by jobs/study: {count} of its runs, as tasks of an array.
export WASP_HOME={home} WASP_PROGRAM={wasp}
folder={folder}
runs=(
{runs}
)
name=${{runs[$SLURM_ARRAY_TASK_ID]}}
exec >> "$folder/logs/$name.log" 2>&1
set -- --config "$folder/runs/$name.toml" --progress plain --out "$folder/$name.h5"
. "$WASP_HOME/jobs/train.sbatch"
"""


def slurm_time(seconds):
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02}:{minutes:02}:{rest:02}"


def arrays_of(runs):
    """[(name, runs)]: of one shape, and not too many."""
    by_shape = {}
    for run in runs:
        by_shape.setdefault(run.shape, []).append(run)
    arrays = []
    for shape, members in sorted(by_shape.items()):
        for begin in range(0, len(members), MOST_TASKS):
            part = f"-{begin // MOST_TASKS + 1}" if len(members) > MOST_TASKS else ""
            arrays.append(("x".join(map(str, shape)) + part, members[begin:begin + MOST_TASKS]))
    return arrays


def script_of(study, folder, name, runs, home, wasp):
    """home: with jobs/train.sbatch   wasp: the program"""
    nodes, per_node, threads = runs[0].shape
    further = (["--exclusive"] if study.exclusive else []) + study.sbatch_options
    return SCRIPT.format(
        name=re.sub(r"[^A-Za-z0-9.=_-]+", "-", f"{study.path.stem}-{name}"),
        nodes=nodes, per_node=per_node, threads=threads,
        time=slurm_time(study.time_limit), last=len(runs) - 1,
        limit=f"%{study.concurrent}" if study.concurrent else "",
        notice=max(1, min(120, study.time_limit // 10)),
        further="".join(f"#SBATCH {option}\n" for option in further), count=len(runs),
        home=shlex.quote(str(home)), wasp=shlex.quote(str(wasp.absolute())),
        folder=shlex.quote(str(folder.path.absolute())),
        runs="\n".join(run.name for run in runs))  # names need no quotes


def sbatch_words(folder, script):
    """Slurm reads % in names of files."""
    log = str(folder.path.absolute() / "logs" / "slurm.log").replace("%", "%%")
    return ["sbatch", "--parsable", f"--chdir={os.getcwd()}", f"--output={log}", str(script)]


def call(words):
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        raise Fault(f"{words[0]}: not found; is Slurm installed here? --local runs without it") from None
    if done.returncode:
        raise Fault(f"{shlex.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Jobs:
    """Which arrays were submitted, and which of their tasks are still in the queue."""

    def __init__(self, folder):
        self.file = folder.path / "jobs" / "submitted.json"
        self.arrays = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def add(self, job, runs):
        self.arrays[job] = [run.name for run in runs]
        write_aside(self.file, json.dumps(self.arrays, indent=1) + "\n")

    def queued(self):
        """{name of a run: (job, what Slurm says, as RUNNING)}"""
        if not self.arrays:
            return {}
        there = {}
        for line in call(["squeue", "--me", "--noheader", "--array", "--format=%F %K %T"]).splitlines():
            job, task, state = line.split()
            if job in self.arrays and task.isdigit() and int(task) < len(self.arrays[job]):
                there[self.arrays[job][int(task)]] = job, state
        return there


def write_scripts(study, folder, runs, home, wasp):
    """[(path, runs)]"""
    written = []
    for name, members in arrays_of(runs):
        path = folder.path / "jobs" / f"{name}.sbatch"
        write_aside(path, script_of(study, folder, name, members, home, wasp))
        written.append((path, members))
    return written


def submit(study, folder, runs, home, wasp):
    """Yields (job, runs)."""
    jobs = Jobs(folder)
    for path, members in write_scripts(study, folder, runs, home, wasp):
        job = call(sbatch_words(folder, path)).strip().split(";")[0]
        jobs.add(job, members)
        yield job, members


def cancel(jobs):
    """The arrays that have tasks in the queue."""
    there = sorted({job for job, _ in jobs.queued().values()})
    if there:
        call(["scancel", *there])
    return there
