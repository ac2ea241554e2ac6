#!/usr/bin/python3
"""Golden values of ResNets from PyTorch: loss, gradients, running statistics, inference, 5 SGD steps.

usage: make_resnet_golden.py FOLDER [NAME…]     writes FOLDER/resnet20.h5, resnet50.h5, resnet101.h5
       make_resnet_golden.py --search NAME FIRST COUNT     tries images, see below
Debian: python3-torch, python3-h5py. The committed files were made by PyTorch 1.13.1 in float64, so that
what the tests measure is our rounding and not PyTorch's.

Layout: /loss () of a training step, /gradients, /running (after that step), /inference (N,10) logits of
model.eval() then, /after_5_steps (SGD, learning rate 0.01, momentum 0.9, weight decay 0.0005; the same
batch each step, the first step being the one above).
Each of gradients, running and after_5_steps holds `norms`, one a tensor in the order of the flat buffers,
and `values`: of each tensor every stride-th value, stride = 1 below 64 values, else (count // 64) | 1.
Images and initial weights are not stored: they come from hashed(), as in test/nn/resnet_golden.cpp.

The images are chosen: where a ReLU's input is nearer to zero than float32 can tell, its gradient is a
toss-up, and among a million inputs one such is likely. --search prints for each choice of images the
smallest input of any ReLU, in units of the error that float32 makes in that channel: take a large one.
Small gamma (0.2 to 0.5) beside beta of up to 1 keeps those errors small in a hundred layers.
"""
import sys

import h5py
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from make_lenet_golden import hashed


class Block(nn.Module):
    """Basic or bottleneck; `seen` collects the inputs of the ReLUs."""

    def __init__(self, inputs, width, stride, bottleneck, padded):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        if bottleneck:
            self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(outputs)
            self.parts = [(self.conv1, self.bn1), (self.conv2, self.bn2), (self.conv3, self.bn3)]
        else:
            self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.parts = [(self.conv1, self.bn1), (self.conv2, self.bn2)]
        self.new_channels = outputs - inputs if padded else 0
        self.downsample = None
        if not padded and (stride != 1 or inputs != outputs):
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x, seen):
        y = x
        for conv, norm in self.parts[:-1]:
            y = norm(conv(y))
            seen.append(y)
            y = F.relu(y)
        conv, norm = self.parts[-1]
        y = norm(conv(y))
        if self.downsample is not None:
            x = self.downsample(x)
        elif self.new_channels > 0:  # He et al.'s option A
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.new_channels))
        seen.append(y + x)
        return F.relu(y + x)


class ResNet(nn.Module):
    def __init__(self, width, blocks, bottleneck, padded):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        channels = width
        for stage, count in enumerate(blocks):
            layer = nn.ModuleList()
            for i in range(count):
                layer.append(Block(channels, width << stage, 2 if stage > 0 and i == 0 else 1, bottleneck, padded))
                channels = (width << stage) * (4 if bottleneck else 1)
            self.add_module(f"layer{stage + 1}", layer)
        self.fc = nn.Linear(channels, 10)
        self.stages = len(blocks)

    def forward(self, x, seen):
        y = self.bn1(self.conv1(x))
        seen.append(y)
        y = F.relu(y)
        for stage in range(self.stages):
            for block in getattr(self, f"layer{stage + 1}"):
                y = block(y, seen)
        return self.fc(y.mean((2, 3)))


# name: (width, blocks, bottleneck, padded), image side, gamma (middle, spread), beta, salt of the images
CASES = {
    "resnet20": ((16, (3, 3, 3), False, True), 32, (0.5, 0.25), 0.8, 0),
    "resnet50": ((64, (3, 4, 6, 3), True, False), 12, (0.2, 0.1), 1.0, 29),
    "resnet101": ((64, (3, 4, 23, 3), True, False), 12, (0.2, 0.1), 1.0, 126),
}
LABELS = np.array([3, 1, 4, 1])


def fill(model, gamma, beta):
    """Of parameter p: convolutions and fc.weight hash/sqrt(fan_in), gammas middle + spread·hash, betas beta·hash,
    fc.bias 0.1·hash; computed in float64, then rounded to float32."""
    for salt, (name, p) in enumerate(model.named_parameters(), start=1):
        values = hashed(p.numel(), salt)
        if p.dim() > 1:
            values = values / np.sqrt(np.prod(p.shape[1:]))
        elif name == "fc.bias":
            values = values * 0.1
        elif name.endswith("weight"):
            values = gamma[0] + gamma[1] * values
        else:
            values = values * beta
        values = values.astype(np.float32).astype(np.float64)
        p.data = torch.from_numpy(values.reshape(tuple(p.shape)))


def images(side, salt):
    return torch.from_numpy(hashed(len(LABELS) * 3 * side * side, salt).reshape(-1, 3, side, side))


def store(file, group, tensors):
    arrays = [t.detach().numpy().reshape(-1) for t in tensors]
    file[f"{group}/norms"] = [np.linalg.norm(a) for a in arrays]
    strides = [1 if a.size < 64 else (a.size // 64) | 1 for a in arrays]
    file[f"{group}/values"] = np.concatenate([a[::s] for a, s in zip(arrays, strides)]).astype(np.float32)


def running(model):
    return [b for name, b in model.named_buffers() if "running" in name]


def make(folder, name):
    shape, side, gamma, beta, salt = CASES[name]
    model = ResNet(*shape).double()
    fill(model, gamma, beta)
    x, y = images(side, salt), torch.from_numpy(LABELS)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.0005)
    with h5py.File(f"{folder}/{name}.h5", "w") as file:
        file.attrs["torch"] = str(torch.__version__).encode()
        for step in range(5):
            optimiser.zero_grad()
            loss = F.cross_entropy(model(x, []), y)
            loss.backward()
            if step == 0:
                file["loss"] = loss.item()
                store(file, "gradients", [p.grad for p in model.parameters()])
                store(file, "running", running(model))
                model.eval()
                with torch.no_grad():
                    file["inference"] = model(x, []).numpy()
                model.train()
            optimiser.step()
        store(file, "after_5_steps", model.parameters())


def search(name, first, count):
    shape, side, gamma, beta, _ = CASES[name]
    exact = ResNet(*shape).double()
    fill(exact, gamma, beta)
    rounded = ResNet(*shape)
    rounded.load_state_dict(exact.state_dict())
    for salt in range(first, first + count):
        x, seen, seen32 = images(side, salt), [], []
        with torch.no_grad():
            exact(x, seen)
            rounded(x.float(), seen32)
        gap = min(float((a.abs() / (b.double() - a).pow(2).mean((0, 2, 3), keepdim=True).sqrt()).min())
                  for a, b in zip(seen, seen32))
        print(f"{name} salt {salt}: smallest input of a ReLU {gap:.2f} errors", flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    if sys.argv[1] == "--search":
        search(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        for case in sys.argv[2:] or CASES:
            make(sys.argv[1], case)
