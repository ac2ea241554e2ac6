#!/usr/bin/python3
"""Time to an accuracy of LeNet-5 on two processes: WASP against PyTorch's DistributedDataParallel, in turns.

usage: time_to_accuracy.py WASP DATA.h5 [--target 0.985] [--seeds 1,2,3] [--every 0.25] [--epochs 6]
                           [--torch RECIPE] [--ours RECIPE] [--launcher "mpiexec.mpich -bind-to core"]
WASP: the program, e.g. bin/wasp. DATA.h5: of `wasp data import idx FOLDER --out DATA.h5`. A recipe is
BATCH,RATE,MOMENTUM,EPOCHS: the images of an update (of WASP: of one worker, of PyTorch: of both processes together),
the learning rate, momentum, and in how many epochs the rate falls to 0 by half a cosine (0: it stays). An empty one
leaves that side out, as a search for the best does.
The rule is one for both: two processes of one thread; the clock starts before the first step, and stands still while
the whole test set is looked at, each `every` of an epoch, until the target is reached.
PyTorch gets its best known settings: channels_last, pixels as floats beforehand, gradients as views of its buckets,
AVX-512, OpenBLAS with OpenMP and tcmalloc where there are any, denormals flushed.
"""
import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import h5py

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
PROCESSES = 2


def parse_recipe(text):
    batch, rate, momentum, falls = text.split(",")
    return int(batch), float(rate), float(momentum), int(falls)


def load(path):
    import torch
    with h5py.File(path, "r") as file:
        images, labels, test, test_labels = (torch.from_numpy(file[f"{split}/{kind}"][:])
                                             for split in ("train", "test") for kind in ("images", "labels"))
    images, test = images.float(), test.float()
    mean, deviation = images.mean(), images.std()
    return (images - mean) / deviation, labels.long(), (test - mean) / deviation, test_labels.long()


def work(rank, options, seed):
    import torch
    from torch import distributed, nn
    from torch.nn import functional as F
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    distributed.init_process_group("gloo", rank=rank, world_size=PROCESSES)
    batch, rate, momentum, falls = parse_recipe(options.torch)
    images, labels, test, test_labels = load(options.data)
    torch.set_flush_denormal(True)
    model = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                          nn.Linear(84, 10)).to(memory_format=torch.channels_last)
    parallel = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum, foreach=False)
    shuffling = torch.Generator()
    shuffling.manual_seed(seed)
    mine = batch // PROCESSES
    steps = len(images) // batch  # of an epoch
    seconds, accuracy, step = 0.0, 0.0, 0
    while step < options.epochs * steps and accuracy < options.target:
        distributed.barrier()
        start = time.perf_counter()
        for _ in range(round(options.every * steps)):
            if step % steps == 0:
                order = torch.randperm(len(images), generator=shuffling)[rank::PROCESSES]
            if falls > 0:
                for group in optimiser.param_groups:
                    group["lr"] = rate / 2 * (1 + math.cos(math.pi * min(1, step / (falls * steps))))
            chosen = order[step % steps * mine:(step % steps + 1) * mine]
            optimiser.zero_grad(set_to_none=True)
            F.cross_entropy(parallel(images[chosen]), labels[chosen]).backward()
            optimiser.step()
            step += 1
        distributed.barrier()
        seconds += time.perf_counter() - start
        with torch.no_grad():
            right = sum(int((model(test[i:i + 1000]).argmax(1) == test_labels[i:i + 1000]).sum())
                        for i in range(0, len(test), 1000))
        accuracy = right / len(test)
    if rank == 0:
        reached = seconds if accuracy >= options.target else math.nan
        print(f"seconds={reached:.3f} epochs={step / steps:.2f} accuracy={accuracy:.4f} "
              f"speed={step * batch / seconds:.0f}", flush=True)
    distributed.destroy_process_group()


def run_torch(options):
    import torch.multiprocessing
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 10000),
                   "GLOO_SOCKET_IFNAME": "lo"}
    torch.multiprocessing.spawn(work, args=(options, options.seed), nprocs=PROCESSES)


def time_torch(options, seed):
    tuned = os.environ | {"LD_LIBRARY_PATH": LIBRARIES + "openblas-openmp"}
    with open("/proc/cpuinfo", encoding="ascii") as file:
        if "avx512f" in file.read():
            tuned["ATEN_CPU_CAPABILITY"] = "avx512"
    if os.path.exists(LIBRARIES + "libtcmalloc_minimal.so.4"):
        tuned |= {"LD_PRELOAD": LIBRARIES + "libtcmalloc_minimal.so.4",
                  "TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD": str(1 << 40)}
    text = subprocess.run([sys.executable, *sys.argv, "--seed", str(seed)], env=tuned, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return [float(figure) for figure in
            re.search(r"seconds=(\S+) epochs=(\S+) accuracy=(\S+) speed=(\S+)", text).groups()]


def time_ours(options, seed):
    batch, rate, momentum, falls = parse_recipe(options.ours)
    with tempfile.TemporaryDirectory() as folder:
        command = [*options.launcher.split(), "-n", str(PROCESSES), options.wasp, "train", "--protocol", "wasp",
                   "--data", options.data, "--model", "lenet5", "--batch", str(batch), "--lr", str(rate), "--momentum",
                   str(momentum), "--lr-schedule", "cosine" if falls > 0 else "constant", "--epochs",
                   str(falls or options.epochs), "--threads", "1", "--seed", str(seed), "--eval", "inline",
                   "--eval-every", f"{options.every}epochs", "--target-accuracy", str(options.target),
                   "--stop-at-target", "--progress", "none", "--out", f"{folder}/run.h5"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        with h5py.File(options.data, "r") as file:
            images = len(file["train/labels"])
    found = dict(pair.split("=", 1) for pair in re.search(r"^RESULT (.*)$", text, re.MULTILINE)[1].split())
    return [float(found["time_to_accuracy"]), float(found["samples"]) / images, float(found["best_accuracy"]),
            float(found["samples_per_second"])]


def compare(options):
    sides = {"PyTorch": (options.torch, time_torch), "ours": (options.ours, time_ours)}
    found = {who: [] for who, (recipe, _) in sides.items() if recipe}
    for seed in options.seeds.split(","):
        for who, times in found.items():
            seconds, epochs, accuracy, speed = sides[who][1](options, int(seed))
            times.append(seconds)
            print(f"{who:8} seed {seed}: {100 * options.target:.1f} % after {seconds:.2f} s, {epochs:.2f} epochs "
                  f"({100 * accuracy:.2f} %; {speed:.0f} images/s)", flush=True)
    medians = {who: statistics.median(times) for who, times in found.items()}
    print("; ".join(f"{who} {median:.2f} s" for who, median in medians.items()) + " (medians)" +
          (f": ours / PyTorch's {medians['ours'] / medians['PyTorch']:.3f}" if len(medians) == 2 else ""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("wasp")
    parser.add_argument("data")
    parser.add_argument("--target", type=float, default=0.985)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--every", type=float, default=0.25)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--torch", default="128,0.03,0.9,2")
    parser.add_argument("--ours", default="16,0.1,0,2")
    parser.add_argument("--launcher", default="mpiexec.mpich -bind-to core")
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    run_torch(chosen) if chosen.seed is not None else compare(chosen)
