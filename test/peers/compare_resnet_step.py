#!/usr/bin/python3
"""Training steps of a ResNet, ours against PyTorch's on the CPU, in turns: the machine's speed drifts.

usage: compare_resnet_step.py WASP [--model resnet101] [--batch 32] [--threads 1] [--precision float32|bf16]
                              [--seconds 6] [--rounds 1] [--avx]          WASP: the program, e.g. bin/wasp
One round is: ours, PyTorch in its usual layout, ours, PyTorch in channels_last. Printed are images/s by the mean
and by the fastest step of each, and the ratio of our median to PyTorch's in its better layout.
PyTorch gets its best known settings: OpenBLAS with OpenMP and tcmalloc where they are installed, ReLUs and additions
in place, denormals flushed; in bf16 its autocast. A step is forward, backward, and SGD with momentum.
--avx: both as on a processor with AVX, but neither AVX2 nor FMA, as far as their libraries can be told.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
AVX_ONLY = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "AVX", "OPENBLAS_CORETYPE": "Sandybridge"}
# name: (width, blocks of each stage, bottleneck, shortcuts without parameters)
MODELS = {"resnet20": (16, (3, 3, 3), False, True), "resnet18": (64, (2, 2, 2, 2), False, False),
          "resnet50": (64, (3, 4, 6, 3), True, False), "resnet101": (64, (3, 4, 23, 3), True, False)}


def run_torch(options):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self, inputs, width, stride, bottleneck, padded):
            super().__init__()
            outputs = 4 * width if bottleneck else width
            sizes = ([(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)] if bottleneck else
                     [(inputs, width, 3, stride), (width, width, 3, 1)])
            self.units = nn.ModuleList(nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o))
                                       for i, o, k, s in sizes)
            changes = stride != 1 or inputs != outputs
            self.new_channels = outputs - inputs if changes and padded else 0
            self.shortcut = (nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
                             if changes and not padded else nn.Identity())

        def forward(self, x):
            y = x
            for unit in self.units[:-1]:
                y = F.relu(unit(y), inplace=True)
            y = self.units[-1](y)
            if self.new_channels:
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.new_channels))
            y += self.shortcut(x)
            return F.relu(y, inplace=True)

    width, stages, bottleneck, padded = MODELS[options.model]
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    channels = width
    for stage, blocks in enumerate(stages):
        for i in range(blocks):
            stride = 2 if stage > 0 and i == 0 else 1
            layers.append(Block(channels, width << stage, stride, bottleneck, padded))
            channels = (width << stage) * (4 if bottleneck else 1)
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))

    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    images, labels = torch.randn(512, 3, 32, 32), torch.randint(10, (512,))
    if options.layout == "nhwc":
        model, images = (t.to(memory_format=torch.channels_last) for t in (model, images))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step(number):
        first = number * options.batch % (len(images) - options.batch + 1)
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.precision == "bf16"):
            loss = F.cross_entropy(model(images[first:first + options.batch]), labels[first:first + options.batch])
        loss.backward()
        optimiser.step()

    step(0)
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < options.seconds or len(times) < 3:
        begin = time.perf_counter()
        step(len(times) + 1)
        times.append(time.perf_counter() - begin)
    print(f"{options.batch / statistics.mean(times):.1f} images/s mean, {options.batch / min(times):.1f} best")


def images_per_second(command, environment):
    text = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures = [float(figure) for figure in re.search(r"([\d.]+) images/s mean, ([\d.]+) best", text).groups()]
    print(f"  {figures[0]:.1f} ({figures[1]:.1f}): {' '.join(command[:5])} …", file=sys.stderr, flush=True)
    return figures


def compare(options):
    common = ["--model", options.model, "--batch", str(options.batch), "--threads", str(options.threads),
              "--precision", options.precision, "--seconds", str(options.seconds)]
    ours = [options.wasp, "bench", "step", *common]
    environment = os.environ.copy()
    if options.avx:
        ours += ["--simd", "avx"]
        environment |= AVX_ONLY
    tuned = environment | {"LD_LIBRARY_PATH": LIBRARIES + "openblas-openmp"}
    if os.path.exists(LIBRARIES + "libtcmalloc_minimal.so.4"):
        tuned |= {"LD_PRELOAD": LIBRARIES + "libtcmalloc_minimal.so.4",
                  "TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD": str(1 << 40)}
    found = {"ours": [], "nchw": [], "nhwc": []}
    for _ in range(options.rounds):
        for layout in ("nchw", "nhwc"):
            found["ours"].append(images_per_second(ours, environment))
            found[layout].append(images_per_second(
                [sys.executable, __file__, options.wasp, "--layout", layout, *common], tuned))
    print(f"{options.model} batch={options.batch} threads={options.threads} {options.precision}, images/s mean (best): "
          + "; ".join(f"{who} " + ", ".join(f"{mean:.1f} ({best:.1f})" for mean, best in runs)
                      for who, runs in found.items()))
    for kind, index in (("mean", 0), ("best", 1)):
        median = {who: statistics.median(run[index] for run in runs) for who, runs in found.items()}
        print(f"  ours / PyTorch's better layout, by the {kind} step: "
              f"{median['ours'] / max(median['nchw'], median['nhwc']):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("wasp")
    parser.add_argument("--model", choices=MODELS, default="resnet101")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("float32", "bf16"), default="float32")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--avx", action="store_true")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    run_torch(chosen) if chosen.layout else compare(chosen)
