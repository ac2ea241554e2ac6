#!/usr/bin/python3
"""Print what a data file of wasp's own layout holds, as h5py and hashlib see it: one line an object."""
import hashlib
import sys

import h5py

with h5py.File(sys.argv[1], "r") as file:
    for name in ("format_version", "name", "classes"):
        value = file.attrs[name]
        print(f"{name}={value.decode() if isinstance(value, bytes) else value}")
    for name in ("mean", "std"):
        print(f"{name}=" + ",".join(f"{value:.5f}" for value in file.attrs[name]))
    for name in ("train/images", "train/labels", "test/images", "test/labels"):
        data = file[name]
        digest = hashlib.sha256(data[...].tobytes()).hexdigest()
        stored = "same" if data.attrs["sha256"].decode() == digest else "other"
        whole = data.chunks[1:] == data.shape[1:]
        print(f"{name} {data.dtype} {data.shape} {digest} stored={stored} checksum={data.fletcher32} whole={whole}")
