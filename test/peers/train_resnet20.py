#!/usr/bin/python3
"""ResNet-20 trained by PyTorch with the recipe that our runs use: for comparing test accuracies.

usage: train_resnet20.py DATA.h5 [EPOCHS [SEED [THREADS]]]       DATA.h5: of `wasp data import cifar10`
Recipe: 30 epochs, batch 128, SGD with momentum 0.9, weight decay 0.0001, learning rate 0.1 falling to 0 by half
a cosine over the epochs with fraction, He's initialisation, padding by 4 black pixels, random crop and mirror image,
pixels normalised by the training set's mean and deviation of each channel.
Ours:  wasp train --data DATA.h5 --model resnet20 --epochs 30 --batch 128 --lr 0.1 --lr-schedule cosine
           --momentum 0.9 --weight-decay 0.0001 --initialisation he --augment crop-flip --protocol serial --out FILE
"""
import math
import os
import sys

import h5py
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from make_resnet_golden import CASES, ResNet  # noqa: E402

BATCH, RATE = 128, 0.1


def load(path):
    with h5py.File(path, "r") as file:
        data = [torch.from_numpy(file[f"{split}/{kind}"][:].astype(dtype))
                for split in ("train", "test") for kind, dtype in (("images", "float32"), ("labels", "int64"))]
    return data


def augmented(x):
    """A crop of each padded image, every second one mirrored."""
    padded = F.pad(x, (4, 4, 4, 4))
    out = torch.empty_like(x)
    for i, (down, right, mirrored) in enumerate(zip(torch.randint(9, (len(x),)), torch.randint(9, (len(x),)),
                                                    torch.rand(len(x)) < 0.5)):
        crop = padded[i, :, down:down + 32, right:right + 32]
        out[i] = crop.flip(2) if mirrored else crop
    return out


def main(path, epochs=30, seed=1, threads=1):
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    train, labels, test, test_labels = load(path)
    mean, deviation = train.mean((0, 2, 3), keepdim=True), train.std((0, 2, 3), keepdim=True)
    model = ResNet(*CASES["resnet20"][0])
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, weight_decay=0.0001)
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(train))
        total = 0.0
        for first in range(0, len(train), BATCH):
            chosen = order[first:first + BATCH]
            for group in optimiser.param_groups:
                group["lr"] = RATE / 2 * (1 + math.cos(math.pi * (epoch + first / len(train)) / epochs))
            loss = F.cross_entropy(model((augmented(train[chosen]) - mean) / deviation, []), labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(chosen)
        model.eval()
        with torch.no_grad():
            right = sum(int((model((test[i:i + 200] - mean) / deviation, []).argmax(1) == test_labels[i:i + 200]).sum())
                        for i in range(0, len(test), 200))
        print(f"epoch {epoch + 1}: loss {total / len(train):.4f}, test accuracy {100 * right / len(test):.2f} %", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
