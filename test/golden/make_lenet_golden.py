#!/usr/bin/python3
"""Golden values of both LeNets from PyTorch: logits, loss, gradients, and the weights after 20 SGD steps.

usage: make_lenet_golden.py FOLDER      writes FOLDER/lenet5.h5 and FOLDER/lenet5-caffe.h5
Debian: python3-torch, python3-h5py. The committed files were made by PyTorch 1.13.1 in float64, so that
what the tests measure is our rounding and not PyTorch's.

Layout: /logits (8,10), /loss (), /gradients/NAME/{norm,values}, /after_20_steps/NAME/{norm,values}
(SGD, learning rate 0.05, momentum 0.9, weight decay 0.0005; batch 8, the same each step).
To keep the files small, images and initial weights are not stored: both come from hashed(), the same
integer hash as in test/nn/golden.cpp; of tensors above 4,096 values every 37th is stored (attribute stride).
"""
import sys

import h5py
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class CaffeLeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.fc1 = nn.Linear(800, 500)
        self.fc2 = nn.Linear(500, 10)

    def forward(self, x):
        x = F.max_pool2d(self.conv1(x), 2)
        x = F.max_pool2d(self.conv2(x), 2)
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


def hashed(count, salt):
    """count floats in [-1, 1), each a multiple of 2^-20: an integer hash, exact in float32 and in C++."""
    z = np.arange(count, dtype=np.uint64) + np.uint64(salt << 32)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(43)).astype(np.int64) - 2**20).astype(np.float64) / 2**20


def fill(model):
    """weight i of parameter p = hash / sqrt(fan_in), rounded to float32."""
    for salt, parameter in enumerate(model.parameters(), start=1):
        fan_in = int(np.prod(parameter.shape[1:])) if parameter.dim() > 1 else 100
        values = (hashed(parameter.numel(), salt) * np.float64(np.float32(1 / np.sqrt(fan_in)))).astype(np.float32)
        parameter.data = torch.from_numpy(values.astype(np.float64).reshape(tuple(parameter.shape)))


def store(file, group, tensors):
    """Large tensors as their norm, their sum and every 37th value; small ones whole."""
    for name, value in tensors:
        value = value.detach().numpy()
        place = file.create_group(f"{group}/{name}")
        place["norm"] = np.linalg.norm(value)
        stride = 1 if value.size <= 4096 else 37
        place.attrs["stride"] = stride
        place["values"] = value.reshape(-1)[::stride].astype(np.float32)


def make(folder, name, model):
    model.double()
    fill(model)
    images = hashed(8 * 784, 100).astype(np.float32).reshape(8, 1, 28, 28)
    labels = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    x, y = torch.from_numpy(images.astype(np.float64)), torch.from_numpy(labels)
    with h5py.File(f"{folder}/{name}.h5", "w") as file:
        file.attrs["torch"] = str(torch.__version__).encode()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        file["logits"] = logits.detach().numpy()
        file["loss"] = loss.item()
        store(file, "gradients", [(n, p.grad) for n, p in model.named_parameters()])
        optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.0005)
        for _ in range(20):
            optimiser.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimiser.step()
        store(file, "after_20_steps", model.named_parameters())


if __name__ == "__main__":
    torch.manual_seed(0)
    make(sys.argv[1], "lenet5", LeNet5())
    make(sys.argv[1], "lenet5-caffe", CaffeLeNet())
