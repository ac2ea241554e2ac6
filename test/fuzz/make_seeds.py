#!/usr/bin/python3
"""Write small sound data files of every kind that is read, for the fuzzer to change.

usage: make_seeds.py FOLDER
"""
import gzip
import sys

import h5py
import numpy as np

FOLDER = sys.argv[1]
COUNT, SIDE, CLASSES = 6, 4, 3
random = np.random.default_rng(1)
GREY = random.integers(0, 256, (COUNT, SIDE, SIDE), dtype=np.uint8)
RGB = random.integers(0, 256, (COUNT, SIDE, SIDE, 3), dtype=np.uint8)
LABELS = np.arange(COUNT, dtype=np.uint8) % CLASSES
ONE_HOT = np.eye(CLASSES, dtype="f4")[LABELS]
KERAS = ("x_train", "y_train", "x_test", "y_test")


def write(name, arrays, attributes=(), object_attributes=(), file=None, **storage):
    """arrays: by name; `storage` is for those of more than one dimension."""
    with h5py.File(f"{FOLDER}/{name}.h5", "w", **(file or {})) as out:
        for key, array in arrays.items():
            out.create_dataset(key, data=array, **(storage if np.ndim(array) > 1 else {}))
        for key, value in attributes:
            out.attrs[key] = value(out) if callable(value) else value
        for key, attribute, value in object_attributes:
            out[key].attrs[attribute] = value


def keras(name, images=GREY, labels=LABELS, **storage):
    write(name, dict(zip(KERAS, (images, labels, images, labels))), **storage)


CHUNK = (4, 3, 4)
for name, storage in {
        "contiguous": {}, "chunked": {"chunks": CHUNK}, "gzip": {"chunks": CHUNK, "compression": "gzip"},
        "shuffle": {"chunks": CHUNK, "compression": "gzip", "shuffle": True}, "sum": {"chunks": CHUNK, "fletcher32": True},
        "lzf": {"chunks": CHUNK, "compression": "lzf"}, "szip": {"chunks": (4, 4, 4), "compression": "szip"},
        "scale": {"chunks": CHUNK, "scaleoffset": 0}, "growing": {"chunks": CHUNK, "maxshape": (None,) * 3},
        "latest": {"file": {"libver": "latest"}, "chunks": CHUNK, "compression": "gzip"},
        "user_block": {"file": {"userblock_size": 512}}}.items():
    keras(name, **storage)
for kind in ("<i2", ">i4", "<u8", ">f2", "<f4", ">f8", "?"):
    keras("type_" + kind.replace("<", "little_").replace(">", "big_").replace("?", "bool"), (GREY / 255).astype(kind))
keras("rgb", RGB)
keras("flat", GREY.reshape(COUNT, -1))
keras("one_hot", GREY, ONE_HOT)
keras("enum", GREY, LABELS.astype(h5py.enum_dtype({"a": 0, "b": 1, "c": 2}, "u1")))
write("groups", {f"{split}/{what}": array for split in ("train", "test")
                 for what, array in (("images", GREY), ("labels", LABELS))})
write("caffe", {"data": GREY[:, None] / np.float32(255), "label": LABELS.astype("f4")})
write("images", {"images": GREY, "labels": LABELS[:, None]})

for libver in ("earliest", "latest"):
    with h5py.File(f"{FOLDER}/types_elsewhere_{libver}.h5", "w", libver=libver) as out:
        out["byte"] = np.dtype("u1")
        for key, array in zip(KERAS, (GREY, LABELS, GREY, LABELS)):
            out.create_dataset(key, data=array, dtype=out["byte"])
        for i in range(10):  # in a heap of their own from the ninth on
            out.attrs.create(f"note{i}", np.arange(i), dtype=out["byte"])

FUEL = np.dtype([("split", "S5"), ("source", "S8"), ("start", "<i8"), ("stop", "<i8"), ("indices", h5py.ref_dtype),
                 ("available", "?"), ("comment", "S1")])
ROWS = [(split, source) for split in (b"train", b"test") for source in (b"features", b"targets")]
for listed in (False, True):
    write("fuel_listed" if listed else "fuel", {"features": GREY[:, None], "targets": LABELS[:, None], "order": [0, 2, 4]},
          [("split", lambda out, listed=listed: np.array(
              [(*row, 0, 3, out["order"].ref if listed else None, True, b".") for row in ROWS], FUEL))])

OWN = {f"{split}/{what}": array for split in ("train", "test") for what, array in (("images", GREY[:, None]), ("labels", LABELS))}
write("own", OWN, [("format_version", 1), ("name", np.bytes_("own")), ("classes", CLASSES), ("mean", [0.5]), ("std", [0.25])],
      [(key, "sha256", np.bytes_("0" * 64)) for key in OWN])


def idx(*arrays):
    return b"".join(bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes() + array.tobytes() for array in arrays)


def save(name, data):
    with open(f"{FOLDER}/{name}", "wb") as out:
        out.write(data)


save("images.idx", idx(GREY))
save("labels.idx", idx(LABELS))
save("images.gz", gzip.compress(idx(GREY)))
save("labels.gz", gzip.compress(idx(LABELS)))
save("cifar10.bin", (b"\x03" + bytes(3072)) * 2)
save("cifar100.bin", (b"\x03\x11" + bytes(3072)) * 2)
