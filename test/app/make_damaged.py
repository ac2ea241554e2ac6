#!/usr/bin/python3
"""Write copies of a model file or a checkpoint, each with one thing wrong, and print their names.

usage: make_damaged.py FILE FOLDER
"""
import os
import shutil
import sys

import h5py
import numpy as np

source, folder = sys.argv[1:]


def set_attribute(name, value):
    def edit(file):
        if name in file.attrs:
            del file.attrs[name]
        file.attrs[name] = value
    return edit


def replace(name, **options):
    def edit(file):
        del file[name]
        file.create_dataset(name, **options)
    return edit


def with_link(name, link):
    def edit(file):
        del file[name]
        file[name] = link
    return edit


def with_values(name, change):
    def edit(file):
        file[name][...] = change(file[name][...])
    return edit


def poisoned(value):
    def change(values):
        values.flat[values.size // 2] = value
        return values
    return change


def deleted(name):
    def edit(file):
        del file[name]
    return edit


def as_group(name):
    def edit(file):
        del file[name]
        file.create_group(name)
    return edit


def edits(file):
    for name in list(file.attrs):
        def without(file, name=name):
            del file.attrs[name]
        yield f"without {name}", without
        for kind, value in (("text", "x" * 100), ("negative", np.int64(-1)), ("zero", np.int64(0)),
                            ("large", np.int64(2**63 - 1)), ("real", 1.5), ("list", np.zeros(9000)),
                            ("empty", h5py.Empty("f8")), ("complex", 1j)):
            yield f"{name} {kind}", set_attribute(name, value)
    arrays = [name for name in file if isinstance(file[name], h5py.Dataset)]
    if "ranks" in file:
        arrays = ["ranks/0"]
    else:
        for value in (np.nan, np.inf):
            yield f"{value}", with_values(arrays[0], poisoned(value))
        for names in ("../../etc", "/", "a,a", "no.such", ",".join(arrays[:-1]), ",", "a" * 100000):
            yield f"tensors {names[:12]}".replace("/", "|"), set_attribute("tensors", names)
    shape = file[arrays[0]].shape
    for name in arrays[:2]:
        safe = name.replace("/", "|")
        yield f"{safe} missing", deleted(name)
        yield f"{safe} a group", as_group(name)
        yield f"{safe} text", replace(name, data=np.array([b"abc"] * 3))
        yield f"{safe} whole", replace(name, data=np.zeros(shape, "i8"))
        yield f"{safe} complex", replace(name, data=np.zeros(shape, "c8"))
        yield f"{safe} scalar", replace(name, data=np.float32(1))
        yield f"{safe} none", replace(name, shape=(0,), dtype="f4")
        yield f"{safe} short", replace(name, data=np.zeros(3, "f4"))
        yield f"{safe} other axes", replace(name, data=np.zeros((1,) + shape, "f4"))
        for bytes_of in ("f4", "u1"):
            yield f"{safe} huge {bytes_of}", replace(name, shape=(2**50,), dtype=bytes_of,
                                                     chunks=(2**16,))
            yield f"{safe} overflowing {bytes_of}", replace(
                name, shape=(2**40, 2**40), dtype=bytes_of, chunks=(64, 64))
        yield f"{safe} never written", replace(name, shape=shape, dtype="f4")
        yield f"{safe} loop", with_link(name, h5py.SoftLink("/" + name))
        yield f"{safe} elsewhere", with_link(name, h5py.ExternalLink("/etc/passwd", "/"))
        yield f"{safe} dangling", with_link(name, h5py.SoftLink("/no/such"))


with h5py.File(source, "r") as whole:
    todo = list(edits(whole))
for label, edit in todo:
    path = os.path.join(folder, label.replace(" ", "_") + ".h5")
    shutil.copy(source, path)
    with h5py.File(path, "r+") as file:
        edit(file)
    print(path)
