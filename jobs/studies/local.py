"""Runs one after another on this machine, without Slurm."""
import os
import shlex
import signal
import subprocess
import time

GRACE = 60  # seconds from the request to stop until it is not a request any more


def stop(child):
    """USR1 goes on to all ranks, which write a checkpoint; mpiexec doesn't hand TERM on."""
    for ask in (signal.SIGUSR1, signal.SIGTERM):
        child.send_signal(ask)
        try:
            child.wait(GRACE)
            return
        except subprocess.TimeoutExpired:
            pass
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def virtual_cluster(run, platform):
    """The run's ranks in virtual time.   platform: NAME[,KEY=VALUE…]"""
    name, comma, keys = platform.partition(",")
    return f"sim:{name},ranks={run.ranks},ranks-per-node={run.per_node}{comma}{keys}"


def train(folder, run, options, limit):
    words = [word.replace("{ranks}", str(run.ranks)) for word in shlex.split(options.launcher)]
    command = [*(words if options.predict is None else ()), str(options.wasp), "train", "--config",
               str(folder.config(run)), "--progress", "plain", "--out", str(folder.results(run))]
    if options.predict is not None:
        command += ["--cluster", virtual_cluster(run, options.predict)]
    if folder.has_checkpoint(run):
        command += ["--resume", "auto"]
    with open(folder.log(run), "ab") as log:
        log.write(f"$ {shlex.join(command)}\n".encode())
        log.flush()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            child.wait(limit)
        except subprocess.TimeoutExpired:
            stop(child)
        except BaseException:
            stop(child)
            raise


def run_all(study, folder, runs, options):
    """Yields (run, its status, seconds).   options: wasp, launcher, predict, seconds (no run is begun later)"""
    begin = time.monotonic()
    for run in runs:
        if options.seconds is not None and time.monotonic() - begin > options.seconds:
            return
        start = time.monotonic()
        folder.make_room(run, folder.status(run))
        train(folder, run, options, study.time_limit)
        yield run, folder.status(run), time.monotonic() - start
