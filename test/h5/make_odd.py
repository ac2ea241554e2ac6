#!/usr/bin/python3
"""Write odd.h5: attributes, records and arrays whose storage our own writer does not make.

usage: make_odd.py FILE
"""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w") as out:
    values = np.arange(11 * 7 * 5, dtype="i4").reshape(11, 7, 5)
    out["plain"] = values
    for name, chunks, options in (
            ("split", (3, 4, 2), {}), ("gzip", (4, 3, 5), {"compression": "gzip", "shuffle": True}),
            ("all", (2, 7, 3), {"compression": "gzip", "shuffle": True, "fletcher32": True}),
            ("lzf", (5, 2, 2), {"compression": "lzf"}), ("szip", (4, 4, 4), {"compression": "szip"}),
            ("larger", (20, 9, 6), {"compression": "gzip", "maxshape": (None, None, None)})):
        out.create_dataset(name, data=values, chunks=chunks, **options)
    out["big/endian"] = values.astype(">i8")
    out["half"] = np.array([0, -0.0, 1, -2, 65504, 2.0**-24, 2.0**-14, 0.333251953125, np.inf, -np.inf, np.nan], ">f2")
    out["truth"] = np.array([True, False, True])
    out["empty"] = np.zeros((0, 3))
    out["texts"] = np.array(["one", "three", ""], "S5")
    out["fractions"] = [1.0, 2.5]

    root = out.attrs
    root["whole"], root["real"], root["yes"] = np.int64(2**62 + 1), 0.25, True
    root["text"], root["fixed"] = "grün", np.bytes_("fixed ")
    root["list"] = np.array([1.5, 2], "f4")
    root["byte"] = np.uint8(200)
    root["texts"] = ["a", "b"]
    root["complex"] = 1j
    root["large"] = np.zeros(5000)
    out["plain"].attrs["unit"] = np.bytes_("m")
    kinds = np.dtype([("name", "S4"), ("from", ">i2"), ("to", "f8"), ("where", h5py.ref_dtype)])
    records = np.zeros(2, kinds)
    records[0], records[1] = (b"ab", 3, 4.0, out["plain"].ref), (b"cdef", -1, 2.0, None)
    root["records"] = records
    root["loose"] = np.array([("a",)], np.dtype([("name", h5py.string_dtype())]))
