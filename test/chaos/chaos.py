#!/usr/bin/env python3
"""Runs of all protocols that meet with an accident each, and what is left of them.

usage: chaos.py --wasp FILE --mpiexec FILE --fault FILE [--runs N] [--seed S] [--first I]

A run is stopped, killed or robbed of its disk at a random moment, once or twice, and then carried
to its end by --resume auto. Afterwards its results must be whole, its accuracy that of an
undisturbed run, its weights the same bits where the protocol promises them, and nothing may be left
behind. One line a run; the exit code is 1 if anything was found. Run I of a seed is the same
whatever N is.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field

import h5py
import numpy as np

EPOCHS = 20
CHECKPOINT_EPOCHS = 2
PATIENCE = 180  # seconds that a run may take in all
ACCURACY_NOISE = 0.06

# Specs, and whether a resumed run has the same bits.
PROTOCOLS = {
    "serial": True,
    "bsp": True,
    "localsgd:H=4": True,
    "slowmo:H=4": True,
    "bmuf:H=4": True,
    "nosync:exchange=sendrecv,tau=3,target=random": True,
    "backup": False,
    "asp": False,
    "asp:servers=1": False,
    "downpour": False,
    "ssp": False,
    "softsync": False,
    "consgd": False,
    "dynsgd": False,
    "dcasgd": False,
    "gapaware": False,
    "wasp:period=10": False,
    "wasp:period=10,servers=1": False,
    "wasp:trigger=versions": False,
    "wasp:mass=one": False,
    "wasp:node_sum=on": False,
    "easgd": False,
    "eamsgd:mu=0.5": False,
    "dpsgd": False,
    "adpsgd": False,
    "sgp": False,
    "lsgd": False,
    "nosync:tau=4": False,
    "nosync:tau=4,target=best,groups=2,inner=bsp": False,
}

SIGNALS = {"sigterm": signal.SIGTERM, "sigusr1": signal.SIGUSR1, "sigint": signal.SIGINT}
# What a fault does at a call on a checkpoint or on the results: see test/preload/fault.c.
FAULTS = {
    "killed in checkpoint": ("step-", ("write", "fsync", "rename"), "KILL"),
    "killed in results": (".run.h5.", ("write", "fsync", "close"), "KILL"),
    "full disk for checkpoints": ("step-", ("open", "write", "fsync", "rename"), "ENOSPC"),
    "full disk for results": (".run.h5.", ("open", "write", "close"), "ENOSPC"),
    "quota": ("run.h5", ("write",), "EDQUOT"),
    "disk error": ("run.h5", ("write", "fsync"), "EIO"),
}
EVENTS = [*SIGNALS, "one killed", "all killed", "launcher killed", "one suspended", *FAULTS,
          "newest checkpoint damaged", "results shortened"]


class Finding(Exception):
    """What is wrong with a run."""


def require(fine, message):
    if not fine:
        raise Finding(message)


class Clock:
    """Seconds that went by while this process ran: of a suspended machine none do."""

    def __init__(self):
        self.seconds = 0.0
        self.was_suspended = False
        self._last = time.monotonic()

    def tick(self, pause=0.01):
        time.sleep(pause)
        now = time.monotonic()
        step = now - self._last
        self._last = now
        self.was_suspended |= step > 2
        self.seconds += min(step, 0.5)


@dataclass
class Ended:
    code: int
    out: str
    err: str


class Job:
    """mpiexec with its ranks."""

    def __init__(self, words, clock, extra_environment=None):
        self.clock = clock
        self.mark = uuid.uuid4().hex
        environment = dict(os.environ, CHAOS_MARK=self.mark, OMP_NUM_THREADS="1",
                           **(extra_environment or {}))
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.texts = ["", ""]
        self.readers = [threading.Thread(target=self._read, args=(i, stream), daemon=True)
                        for i, stream in enumerate((self.process.stdout, self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def _read(self, number, stream):
        for line in stream:
            self.texts[number] += line.decode(errors="replace")

    def evaluations(self):
        return self.texts[0].count(" accuracy ")

    def processes(self, name=None):
        """Those of this job that are there, also without their parents."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if self.mark.encode() not in file.read():
                        continue
                with open(f"/proc/{entry}/comm") as file:
                    if name in (None, file.read().strip()):
                        found.append(int(entry))
            except OSError:
                continue  # not a process, or gone meanwhile
        return sorted(found)

    def wait_for(self, condition):
        """Until it holds or the job has ended. Returns whether it holds."""
        start = self.clock.seconds
        while not condition():
            if self.process.poll() is not None:
                return False
            if self.clock.seconds - start > PATIENCE:
                raise Finding(f"hangs: no progress for {PATIENCE} s; so far: {self.texts}")
            self.clock.tick()
        return True

    def end(self):
        """Wait for the end, and for that of all its processes."""
        self.wait_for(lambda: False)
        start = self.clock.seconds
        while self.processes() and self.clock.seconds - start < 5:
            self.clock.tick()
        left = self.processes()
        require(not left, f"processes left behind: {[name_of(pid) for pid in left]}")
        for reader in self.readers:
            reader.join()
        return Ended(self.process.returncode, *self.texts)

    def kill(self):
        for pid in self.processes():
            send(pid, signal.SIGKILL)
        self.process.wait()


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return f"{file.read().strip()} {pid}"
    except OSError:
        return str(pid)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def read_results(path):
    with h5py.File(path, "r") as file:
        return {
            "status": file.attrs["status"],
            "accuracies": file["/curve/test_accuracy"][:] if "/curve" in file else np.array([]),
            "samples": int(file["/ranks/samples"][:].sum()) if "/ranks" in file else 0,
            "final_accuracy": file["/summary"].attrs.get("final_accuracy", np.nan),
        }


def read_model(path):
    with h5py.File(path, "r") as file:
        return {name: file[name][:] for name in file}


@dataclass
class Case:
    protocol: str
    ranks: int
    events: list
    random: random.Random
    folder: str = ""
    kept: int = 0  # rows of the curve in the results
    notes: list = field(default_factory=list)

    def path(self, name):
        return os.path.join(self.folder, name)


class Chaos:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.references = {}
        self.clock = Clock()
        self.data = os.path.join(folder, "data.h5")
        subprocess.run([options.wasp, "data", "synth", "--classes", "4", "--shape", "1,12,12",
                        "--train", "480", "--test", "200", "--seed", "3", "--out", self.data],
                       check=True, stdout=subprocess.DEVNULL)

    def words(self, case, resumes):
        words = [self.options.mpiexec, "-n", str(case.ranks), self.options.wasp, "train",
                 "--data", self.data, "--model", "mlp", "--batch", "8", "--lr", "0.003",
                 "--momentum", "0.5", "--protocol", case.protocol, "--epochs", str(EPOCHS),
                 "--out", case.path("run.h5"), "--save-model", case.path("model.h5"),
                 "--eval", "inline", "--eval-every", "1epochs", "--progress", "plain",
                 "--checkpoint-every", f"{CHECKPOINT_EPOCHS}epochs", "--threads", "1",
                 "--stall-timeout", str(self.options.stall_timeout)]
        return words + (["--resume", "auto"] if resumes else [])

    def start(self, case, resumes, environment=None):
        return Job(self.words(case, resumes), self.clock, environment)

    def reference(self, case):
        """Results and weights of the run that nothing happens to."""
        key = case.protocol, case.ranks
        if key not in self.references:
            calm = Case(case.protocol, case.ranks, [], case.random,
                        tempfile.mkdtemp(prefix="calm-", dir=self.folder))
            ended = self.start(calm, False).end()
            require(ended.code == 0, f"an undisturbed run ends with {ended.code}: {ended.err}")
            self.references[key] = (read_results(calm.path("run.h5")),
                                    read_model(calm.path("model.h5")))
            shutil.rmtree(calm.folder)
        return self.references[key]

    def make_case(self, number):
        chance = random.Random(f"{self.options.seed}/{number}")
        protocols, events = list(PROTOCOLS), list(EVENTS)
        # Each protocol and each event comes equally often, in another order for each seed.
        random.Random(f"{self.options.seed}/protocols").shuffle(protocols)
        random.Random(f"{self.options.seed}/events").shuffle(events)
        protocol = protocols[number % len(protocols)]
        first = events[(number + number // len(protocols)) % len(events)]
        if "groups" in protocol:
            ranks = 4
        else:
            ranks = 1 if protocol == "serial" else chance.choice((2, 3, 4))
        if "servers" in protocol:
            ranks = max(ranks, 3)
        chosen = [first] + ([chance.choice(events)] if chance.random() < 0.25 else [])
        return Case(protocol, ranks, chosen, chance)

    def run(self, case):
        """Error: Finding."""
        case.folder = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        resumes = False
        for event in case.events:
            if not self.meet_with(case, event, resumes):
                break
            resumes = True
        else:
            self.carry_to_the_end(case)
        self.check_the_end(case)
        shutil.rmtree(case.folder)

    def meet_with(self, case, event, resumes):
        """Returns whether the run did not come to its end in spite of it."""
        environment = {}
        if event in FAULTS:
            part, calls, what = FAULTS[event]
            call = case.random.choice(calls)
            environment = {"LD_PRELOAD": self.options.fault,
                           "FAULT": f"{call}:{case.random.randint(1, 6)}:{what}:{part}"}
            case.notes.append(environment["FAULT"])
        job = self.start(case, resumes, environment)
        try:
            if event not in FAULTS:
                self.strike(case, event, job)
            flushed = job.evaluations() - 1  # a line is said just before it is written
            ended = job.end()
        finally:
            job.kill()
        self.check_code(case, event, ended)
        self.check_results(case, ended, flushed)
        if ended.code == 0:
            return False
        if not self.checkpoints(case):  # then a damaged file is not replaced
            return True
        if event == "newest checkpoint damaged":
            self.damage_newest(case)
        if event == "results shortened" and os.path.exists(case.path("run.h5")):
            size = os.path.getsize(case.path("run.h5"))
            os.truncate(case.path("run.h5"), case.random.randrange(size))
        return True

    def strike(self, case, event, job):
        when = case.random.randint(0, EPOCHS * 2 // 3)
        case.notes.append(f"at evaluation {when}")
        if not job.wait_for(lambda: job.evaluations() >= when):
            return
        for _ in range(case.random.randint(0, 12)):
            self.clock.tick()
        ranks = job.processes("wasp")
        if event == "launcher killed":
            send(job.process.pid, signal.SIGKILL)
        elif event in ("all killed", "newest checkpoint damaged", "results shortened"):
            for pid in ranks:
                send(pid, signal.SIGKILL)
        elif ranks:
            number = {"one killed": signal.SIGKILL, "one suspended": signal.SIGSTOP, **SIGNALS}
            chosen = case.random.randrange(len(ranks))
            case.notes.append(f"process {chosen} of {len(ranks)}")
            send(ranks[chosen], number[event])

    def damage_newest(self, case):
        checkpoints = self.checkpoints(case)
        if not checkpoints:
            return
        newest = os.path.join(case.path("run.h5.ckpt"), checkpoints[-1])
        size = os.path.getsize(newest)
        if case.random.random() < 0.5:
            os.truncate(newest, case.random.randrange(size))
        else:
            with open(newest, "r+b") as file:
                file.seek(size * 3 // 4)
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 1]))

    def checkpoints(self, case):
        folder = case.path("run.h5.ckpt")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(name for name in names if name.startswith("step-"))

    def check_code(self, case, event, ended):
        """As docs/INTERFACE.md has them; a run may have come to its end before the event."""
        allowed = {0}
        if event in SIGNALS:
            allowed |= {75}
            if "at evaluation 0" in case.notes:  # it may come before MPI has started
                allowed |= {int(SIGNALS[event]), 128 + SIGNALS[event], -SIGNALS[event]}
        elif event == "one suspended" or event in ("full disk for results", "quota", "disk error"):
            allowed |= {1}
        elif event == "full disk for checkpoints":
            pass
        else:
            allowed |= {9, 137, 255, -signal.SIGKILL}
        require(ended.code in allowed, f"exit code {ended.code}: {ended.err}")
        if ended.code in (1, 75):
            lines = [line for line in ended.err.splitlines() if line.startswith("wasp: error")]
            require(len(lines) == 1, f"{len(lines)} lines of error: {ended.err}")
        require("Traceback" not in ended.err and "terminate called" not in ended.err, ended.err)

    def check_results(self, case, ended, flushed):
        """They open, and hold all up to the last flush."""
        path = case.path("run.h5")
        if not os.path.exists(path):
            require(flushed < 1, "there are no results")
            return
        results = read_results(path)
        # A run that goes on from a checkpoint keeps what the earlier one left until it has it, too.
        flushed = max(flushed, min(case.kept, 1))
        case.kept = len(results["accuracies"])
        status = {0: ("finished",), 75: ("stopped",), 1: ("failed", "running")}
        require(results["status"] in status.get(ended.code, ("running", "failed", "finished")),
                f"status {results['status']} with exit code {ended.code}")
        require(len(results["accuracies"]) >= flushed,
                f"{len(results['accuracies'])} evaluations of {flushed} are in the results")

    def carry_to_the_end(self, case):
        job = self.start(case, True)
        try:
            ended = job.end()
        finally:
            job.kill()
        over = ended.code == 2 and "holds a finished run" in ended.err  # it was killed behind its end
        require(ended.code == 0 or over, f"resumed, it ends with {ended.code}: {ended.err}")

    def check_the_end(self, case):
        calm, calm_model = self.reference(case)
        results = read_results(case.path("run.h5"))
        require(results["status"] == "finished", f"status {results['status']}")
        require(results["samples"] == calm["samples"],
                f"{results['samples']} samples instead of {calm['samples']}")
        require(len(results["accuracies"]) == len(calm["accuracies"]),
                f"{len(results['accuracies'])} evaluations of {len(calm['accuracies'])}")
        lost = calm["final_accuracy"] - results["final_accuracy"]
        require(lost < ACCURACY_NOISE, f"accuracy {results['final_accuracy']:.3f} instead of "
                                       f"{calm['final_accuracy']:.3f}")
        model = read_model(case.path("model.h5"))
        require(all(np.isfinite(values).all() for values in model.values()), "weights not finite")
        if PROTOCOLS[case.protocol]:
            require(all(np.array_equal(model[name], calm_model[name]) for name in calm_model),
                    "other weights than those of an undisturbed run")
        self.check_litter(case)

    def check_litter(self, case):
        expected = {"run.h5", "model.h5", "run.h5.ckpt"}
        names = set(os.listdir(case.folder))
        folder = case.path("run.h5.ckpt")
        inside = os.listdir(folder) if os.path.isdir(folder) else []
        litter = sorted(names - expected) + [name for name in inside
                                             if not re.fullmatch(r"step-\d+\.h5", name)]
        require(not litter, f"left in the folder: {litter}")
        require(len(inside) <= 2, f"{len(inside)} checkpoints are kept instead of 2")
        if self.options.own_shm:
            left = [name for name in os.listdir("/dev/shm") if name.startswith("wasp")]
            require(not left, f"left in /dev/shm: {left}")


def run_all(options, folder):
    chaos = Chaos(options, folder)
    findings = 0
    for number in range(options.first, options.first + options.runs):
        verdict = ""
        for attempt in range(2):
            case = chaos.make_case(number)
            chaos.clock.was_suspended = False
            began = chaos.clock.seconds
            try:
                chaos.run(case)
                verdict = "ok"
            except Finding as finding:
                verdict = f"FOUND: {finding}"
            # A machine that stands still for longer than --stall-timeout is no finding.
            if verdict == "ok" or not chaos.clock.was_suspended:
                break
        findings += verdict != "ok"
        print(f"{number:4}  {case.ranks} × {case.protocol}, {', then '.join(case.events)} "
              f"({'; '.join(case.notes)})  {chaos.clock.seconds - began:.1f} s  {verdict}",
              flush=True)
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("wasp", "mpiexec", "fault"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--stall-timeout", type=float, default=5)
    parser.add_argument("--own-shm", action="store_true", help="/dev/shm is of this test alone")
    options = parser.parse_args()
    options.wasp, options.fault = os.path.abspath(options.wasp), os.path.abspath(options.fault)
    # Names that a shell would take apart.
    folder = tempfile.mkdtemp(prefix="chaos 'of \"wäsp\" ")
    findings = None  # interrupted
    try:
        findings = run_all(options, folder)
    finally:
        if findings == 0:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"what is left of the runs that failed: {folder}")
    print(f"{options.runs - findings} passed, {findings} failed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
