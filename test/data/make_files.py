#!/usr/bin/python3
"""Write data files of many kinds, sound and unsound ones, and a table of what a loader should make of them.

usage: make_files.py FOLDER
FOLDER/table.tsv: file, what is expected, what a rejection's message must contain, and options of 'import hdf5'. Expected
are 'same' (the images and labels of grey.bin, labels.bin), 'rgb' (of rgb.bin), 'float' (as 'same', divided by 255),
'accept' or 'reject'; of a file with one split 'one', 'one rgb' (the training images alone) or 'one reject'.
"""
import itertools
import os
import sys
import zlib

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

FOLDER = sys.argv[1]
TRAIN, TEST, CLASSES = 40, 20, 10
random = np.random.default_rng(1)


def make_images(*shape):
    images = random.integers(0, 256, shape, dtype=np.uint8)
    images[0].flat[:2] = 0, 255
    return images


GREY = make_images(TRAIN + TEST, 28, 28)
RGB = make_images(TRAIN + TEST, 3, 32, 32)
LABELS = np.arange(TRAIN + TEST, dtype=np.uint8) * 7 % CLASSES
for array, name in ((GREY, "grey"), (RGB, "rgb"), (LABELS.astype("<u2"), "labels")):
    array.tofile(f"{FOLDER}/{name}.bin")

table = open(f"{FOLDER}/table.tsv", "w", encoding="utf-8")
X, Y = (GREY[:TRAIN], GREY[TRAIN:]), (LABELS[:TRAIN], LABELS[TRAIN:])
NAMES = ("x_train", "x_test", "y_train", "y_test")


def row(name, expected, message="", options=""):
    table.write(f"{name}.h5\t{expected}\t{message}\t{options}\n")


def keras(name, expected, message="", x=X, y=Y, names=NAMES, file=None, **storage):
    """The four arrays under the names of Keras; `storage` is for the images."""
    with h5py.File(f"{FOLDER}/{name}.h5", "w", **(file or {})) as out:
        for key, array in zip(names, (*x, *y)):
            out.create_dataset(key, data=array, **(storage if key in names[:2] else {}))
    row(name, expected, message)


def each(arrays, change):
    return tuple(change(array) for array in arrays)


def altered(array, index, value, dtype=None):
    array = array.astype(dtype or array.dtype)
    array[index] = value
    return array


def with_train(pair, train):
    return train, pair[1]


# ---- storage
keras("contiguous", "same")
keras("gzip", "same", compression="gzip", chunks=(16, 28, 28))
keras("gzip_one_image", "same", compression="gzip", chunks=(1, 28, 28))
keras("cut_chunks", "same", compression="gzip", shuffle=True, fletcher32=True, chunks=(7, 10, 13))
keras("checksum", "same", fletcher32=True, chunks=(9, 28, 28))
keras("checksum_odd", "same", fletcher32=True, chunks=(3, 27, 11))
keras("chunked", "same", chunks=(11, 13, 28))
keras("large_chunk", "same", chunks=(200, 28, 28), maxshape=(None, 28, 28))
keras("lzf", "same", compression="lzf", shuffle=True, chunks=(8, 28, 28))
keras("szip", "same", compression="szip", chunks=(8, 28, 28))
keras("scale_offset", "same", scaleoffset=0, chunks=(8, 28, 28))
keras("latest", "same", compression="gzip", chunks=(8, 28, 28), file={"libver": "latest"})
keras("latest_single", "same", compression="gzip", chunks=(20, 28, 28), file={"libver": "latest"})
keras("user_block", "same", file={"userblock_size": 1024})
keras("shuffled_int32", "same", x=each(X, lambda a: a.astype(">i4")), compression="gzip", shuffle=True, fletcher32=True,
      chunks=(7, 28, 5))

# ---- types of pixels
for kind in ("u2", "u4", "u8", "i2", "i4", "i8", "f2", "f4", "f8"):
    for order in "<>":
        keras(f"pixels_{'little' if order == '<' else 'big'}_{kind}", "same", x=each(X, lambda a: a.astype(order + kind)))
for kind in ("f4", "f8"):
    keras(f"unit_{kind}", "float", x=each(X, lambda a: (a / 255).astype(kind)))
keras("constant", "accept", x=each(X, np.zeros_like))
keras("tiny_values", "accept", x=with_train(each(X, lambda a: a / 255), altered(X[0] / 255, (3, 4, 5), 1e-310)))

# ---- axes
keras("nhw1", "same", x=each(X, lambda a: a[..., None]))
keras("n1hw", "same", x=each(X, lambda a: a[:, None]))
keras("flat_784", "same", x=each(X, lambda a: a.reshape(-1, 784)))
RGB_X = RGB[:TRAIN], RGB[TRAIN:]
keras("rgb_nchw", "rgb", x=RGB_X)
keras("rgb_nhwc", "rgb", x=each(RGB_X, lambda a: a.transpose(0, 2, 3, 1)))
keras("rgb_nhwc_gzip", "rgb", x=each(RGB_X, lambda a: a.transpose(0, 2, 3, 1)), compression="gzip", chunks=(5, 9, 32, 2))
keras("rgb_nhwc_int", "rgb", x=each(RGB_X, lambda a: a.transpose(0, 2, 3, 1).astype("i4")))
keras("flat_3072", "rgb", x=each(RGB_X, lambda a: a.reshape(-1, 3072)))

# ---- labels
ONE_HOT = np.eye(CLASSES)[LABELS]
keras("labels_column", "same", y=each(Y, lambda a: a[:, None]))
keras("labels_n111", "same", y=each(Y, lambda a: a[:, None, None, None]))
keras("labels_float", "same", y=each(Y, lambda a: a.astype("f8")))
keras("labels_big_endian", "same", y=each(Y, lambda a: a.astype(">i8")))
keras("labels_one_hot", "same", y=(ONE_HOT[:TRAIN], ONE_HOT[TRAIN:].astype("u1")))

# ---- layouts
keras("upper_case", "same", names=("X_TRAIN", "X_TEST", "Y_TRAIN", "Y_TEST"))
keras("capital_x", "same", names=("X_train", "X_test", "y_train", "y_test"))
keras("title_case", "same", names=("X_Train", "X_Test", "Y_Train", "Y_Test"))
keras("groups", "same", names=("train/images", "test/images", "train/labels", "test/labels"))
keras("usps_names", "same", names=("train/data", "test/data", "train/target", "test/target"))
keras("soft_links", "same", names=("deep/a", "deep/b", "deep/c", "deep/d"))
with h5py.File(f"{FOLDER}/soft_links.h5", "a") as out:
    for key, target in zip(NAMES, "abcd"):
        out[key] = h5py.SoftLink(f"/deep/{target}")
keras("many_others", "same")
with h5py.File(f"{FOLDER}/many_others.h5", "a") as out:
    for i in range(2000):
        out.create_group(f"group_{i}")
        if i < 200:
            out.attrs[f"attribute_{i}"] = "x" * 20
    out["x_train"].attrs["long"] = np.zeros(7000)
    out["cycle"] = out["/"]

FUEL_TYPE = [("split", "S5"), ("source", "S8"), ("start", "<i8"), ("stop", "<i8"), ("indices", h5py.ref_dtype),
             ("available", "?"), ("comment", "S1")]


def fuel(name, expected, message="", rows=(), lists=None):
    """lists: of the rows of each split; then the images in the file are in the opposite order."""
    with h5py.File(f"{FOLDER}/{name}.h5", "w") as out:
        order = slice(None, None, -1 if lists else 1)
        out["features"], out["targets"] = GREY[order, None], LABELS[order, None]
        for split in lists or ():
            out[f"order_{split}"] = np.array(lists[split])
        records = np.zeros(len(rows), dtype=np.dtype(FUEL_TYPE))
        for i, (split, source, start, stop) in enumerate(rows):
            records[i] = (split, source, start, stop, out[f"order_{split.decode()}"].ref if lists else None, True, b".")
        out.attrs["split"] = records
    row(name, expected, message)


FUEL = [(b"train", b"features", 0, TRAIN), (b"train", b"targets", 0, TRAIN),
        (b"test", b"features", TRAIN, TRAIN + TEST), (b"test", b"targets", TRAIN, TRAIN + TEST)]


def fuel_row(index, start, stop):
    return FUEL[:index] + [FUEL[index][:2] + (start, stop)] + FUEL[index + 1:]


fuel("fuel", "same", rows=FUEL)
fuel("fuel_backwards", "reject", "start at 30 and stop at 10", fuel_row(0, 30, 10))
fuel("fuel_negative", "reject", "start at -1", fuel_row(0, -1, 39))
fuel("fuel_lengths", "reject", "40 features, but 30 targets", fuel_row(1, 0, 30))
fuel("fuel_beyond", "reject", "60 rows", [FUEL[0], FUEL[1]] + [(b"test", s, 40, 70) for s in (b"features", b"targets")])
fuel("fuel_far_beyond", "reject", "60 rows", [FUEL[0], FUEL[1]] + [(b"test", s, 2**62, 2**62 + 20) for s in (b"features", b"targets")])
fuel("fuel_no_train", "reject", "'train'", FUEL[2:])
fuel("fuel_no_targets", "reject", "no rows of targets", FUEL[:1])
BACKWARDS = {"train": range(TRAIN + TEST - 1, TEST - 1, -1), "test": range(TEST - 1, -1, -1)}
fuel("fuel_listed", "same", "", FUEL, BACKWARDS)
fuel("fuel_listed_beyond", "reject", "row 60", FUEL, dict(BACKWARDS, test=[3, 60]))
fuel("fuel_listed_negative", "reject", "row -1", FUEL, dict(BACKWARDS, test=[3, -1]))
fuel("fuel_listed_fraction", "reject", "not a whole number", FUEL, dict(BACKWARDS, test=[3, 1.5]))
fuel("fuel_listed_none", "reject", "no images", FUEL, dict(BACKWARDS, train=np.zeros(0, "i8")))
fuel("fuel_none", "reject", "split", [])
keras("fuel_not_records", "reject", "list of records", names=("features", "unused", "targets", "more"))
with h5py.File(f"{FOLDER}/fuel_not_records.h5", "a") as out:
    out.attrs["split"] = "train"

# ---- counts and shapes
keras("labels_short", "reject", "40 images, but 39 labels", y=with_train(Y, Y[0][:-1]))
keras("labels_long", "reject", "40 images, but 60 labels", y=with_train(Y, LABELS))
keras("no_images", "reject", "/x_train: is empty", x=with_train(X, X[0][:0]), y=with_train(Y, Y[0][:0]))
keras("no_width", "reject", "is empty", x=each(X, lambda a: a[..., :0]))
keras("not_square", "reject", "--axes", x=each(X, lambda a: a[:, :27]))
keras("two_channels", "reject", "--axes", x=each(X, lambda a: np.stack([a, a], axis=1)))
keras("channels_both_ways", "reject", "--axes", x=each(RGB_X, lambda a: a[..., :3]))
keras("other_shape_in_test", "reject", "another shape", x=(X[0], X[1][:, :14, :14]))
keras("flat_783", "reject", "783", x=each(X, lambda a: a.reshape(-1, 784)[:, 1:]))
keras("one_dimension", "reject", "expected images", x=each(X, lambda a: a[:, 0, 0]))
keras("five_dimensions", "reject", "expected images", x=each(X, lambda a: a[:, None, None]))
keras("rank_32", "reject", "32 dimensions", x=each(X, lambda a: a.reshape((-1,) + (1,) * 29 + (28, 28))))
keras("no_y_train", "reject", "'y_train'", names=("x_train", "x_test", "other", "y_test"))
keras("not_data", "reject", "none of the known layouts", names=("a", "b", "c", "d"))
keras("keras_model", "reject", "Keras model", names=("model_weights/a", "b", "c", "d"))

# ---- values
for name, value in (("nan", np.nan), ("inf", np.inf), ("minus_inf", -np.inf)):
    keras(f"pixel_{name}", "reject", "/x_train[33,14,5] is", x=with_train(X, altered(X[0] / 255, (33, 14, 5), value)))
keras("pixel_nan_in_test", "reject", "/x_test[3,1,2] is nan", x=(X[0] / 255, altered(X[1] / 255, (3, 1, 2), np.nan)))
keras("pixel_nan_gzip", "reject", "/x_train[33,14,5] is nan", x=with_train(X, altered(X[0] / 255, (33, 14, 5), np.nan)),
      compression="gzip", chunks=(7, 10, 13))
keras("pixels_negative", "reject", "--scale", x=each(X, lambda a: a / 127.5 - 1))
keras("pixels_wrapped", "reject", "--scale", x=each(X, lambda a: a.view("i1")))
keras("pixels_256", "reject", "--scale", x=with_train(X, altered(X[0], (1, 1, 1), 256, "i4")))
keras("pixels_in_between", "reject", "--scale", x=each(X, lambda a: a / 2.0))
keras("pixels_zero_or_one", "reject", "--scale", x=each(X, lambda a: a // 128))
keras("pixels_dark", "reject", "--scale", x=each(X, lambda a: a / 1e4))

LABEL = "/y_train[9]"
keras("label_255", "reject", "--classes", y=with_train(Y, altered(Y[0], 9, 255)))
keras("label_stray", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, 10)))
keras("label_2_32", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, 2**32 + 3, "i8")))
keras("label_uint64", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, 2**64 - 1, "u8")))
keras("label_65536", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, 65536, "i4")))
keras("label_negative", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, -1, "i4")))
keras("label_fraction", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, 3.7, "f4")))
keras("label_nan", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, np.nan, "f4")))
keras("label_inf", "reject", LABEL, y=with_train(Y, altered(Y[0], 9, np.inf, "f4")))
keras("labels_from_one", "reject", "--label-base 1", y=each(Y, lambda a: a + 1))
keras("label_only_in_test", "reject", "--classes", y=(Y[0].repeat(10), altered(Y[1], 2, 10)), x=(X[0].repeat(10, axis=0), X[1]))
keras("one_hot_two", "reject", LABEL, y=with_train(Y, altered(ONE_HOT[:TRAIN], 9, 1)))
keras("one_hot_none", "reject", LABEL, y=with_train(Y, altered(ONE_HOT[:TRAIN], 9, 0)))
keras("one_hot_soft", "reject", LABEL, y=with_train(Y, altered(ONE_HOT[:TRAIN], (9, 1), 0.5)))
keras("one_hot_other_width", "reject", "/y_test", y=(ONE_HOT[:TRAIN], np.eye(12)[LABELS[TRAIN:] + 2]))
keras("labels_rank_3", "reject", "expected labels", y=with_train(Y, ONE_HOT[:TRAIN, None]))
keras("label_scalar", "reject", "single value", y=with_train(Y, np.int64(3)))

# ---- types
keras("labels_text", "reject", "found text", y=with_train(Y, Y[0].astype("S1")))
keras("pixels_complex", "reject", "/x_train: expected numbers", x=each(X, lambda a: a.astype("c8")))
keras("pixels_opaque", "reject", "opaque", x=with_train(X, X[0].reshape(TRAIN, -1).view("V784")))


def replaced(name, message, change, key="x_train"):
    """A Keras file whose `key` is made anew by change(file)."""
    keras(name, "reject", message)
    with h5py.File(f"{FOLDER}/{name}.h5", "a") as out:
        del out[key]
        change(out)


def references(out):
    out.create_dataset("y_train", (TRAIN,), dtype=h5py.ref_dtype)
    out["y_train"][:] = [out["x_test"].ref] * TRAIN


def vlen(out):
    data = out.create_dataset("x_train", (TRAIN,), dtype=h5py.vlen_dtype(np.uint8))
    for i in range(TRAIN):
        data[i] = X[0][i].ravel()[:100 + i]


replaced("labels_references", "found references", references, "y_train")
replaced("pixels_of_any_length", "variable length", vlen)
replaced("pixels_group", "is a group", lambda out: out.create_group("x_train"))
replaced("pixels_type", "is a named type", lambda out: out.__setitem__("x_train", np.dtype("f4")))
replaced("pixels_missing", "'x_train'", lambda out: None)


# ---- links, and data that are elsewhere
def virtual(source, key):
    def change(out):
        layout = h5py.VirtualLayout(shape=X[0].shape, dtype="u1")
        layout[:] = h5py.VirtualSource(source, key, shape=X[0].shape)
        out.create_virtual_dataset("x_train", layout)
    return change


def external_storage(out):
    GREY.tofile(f"{FOLDER}/raw.bin")
    out.create_dataset("x_train", X[0].shape, "u1", external=[(f"{FOLDER}/raw.bin", 0, X[0].size)])


def loop(out):
    out["x_train"], out["a"], out["b"] = h5py.SoftLink("/a"), h5py.SoftLink("/b"), h5py.SoftLink("/x_train")


def soft_to_external(out):
    out["x_train"], out["away"] = h5py.SoftLink("/away"), h5py.ExternalLink("contiguous.h5", "/x_train")


def external_group(out):
    del out["x_test"]
    out["deep"] = h5py.ExternalLink("contiguous.h5", "/")
    out["x_train"], out["x_test"] = h5py.SoftLink("/deep/x_train"), X[1]


replaced("link_external", "link to another file", lambda out: out.__setitem__("x_train", h5py.ExternalLink("contiguous.h5", "/x_train")))
replaced("link_external_itself", "link to another file",
         lambda out: out.__setitem__("x_train", h5py.ExternalLink("link_external_itself.h5", "/x_train")))
replaced("link_external_absolute", "link to another file", lambda out: out.__setitem__("x_train", h5py.ExternalLink("/etc/hostname", "/x")))
replaced("link_soft_to_external", "/x_train", soft_to_external)
replaced("link_through_external_group", "/x_train", external_group)
replaced("link_soft_loop", "/x_train", loop)
replaced("link_nowhere", "/x_train", lambda out: out.__setitem__("x_train", h5py.SoftLink("/nothing")))
replaced("virtual_itself", "virtual", virtual(".", "x_train"))
replaced("virtual_missing", "virtual", virtual("no_such_file.h5", "x_train"))
replaced("virtual_sound", "virtual", virtual("contiguous.h5", "x_train"))
replaced("external_storage", "another file", external_storage)


# ---- sizes: more is declared than is there
def declared(shape, **storage):
    return lambda out: out.create_dataset("x_train", shape, "u1", **storage)


replaced("never_written", "never written", declared(X[0].shape))
replaced("never_written_chunks", "never written", declared(X[0].shape, chunks=(8, 28, 28)))
replaced("never_written_gzip", "never written", declared(X[0].shape, chunks=(8, 28, 28), compression="gzip"))
replaced("declares_1e12", "than the file holds", declared((10**12, 28, 28), chunks=(1000, 28, 28)))
replaced("declares_1e12_gzip", "than the file holds", declared((10**12, 28, 28), chunks=(1000, 28, 28), compression="gzip"))
replaced("declares_2_60", "64 bits", declared((2**60, 28, 28), chunks=(16, 28, 28)))


def partly(count, **storage):
    def change(out):
        data = out.create_dataset("x_train", X[0].shape, "u1", chunks=(8, 28, 28), **storage)
        data[:count] = X[0][:count]
    return change


replaced("partly_written", "never written", partly(16))
replaced("partly_written_gzip", "never written", partly(32, compression="gzip"))


# ---- chunks that do not unpack to what they should
def raw_chunks(chunk, *filters, shape=X[0].shape, chunks=None):
    """One dataset of uint8 with these filters (id, parameters), every chunk stored as these bytes."""
    def change(out):
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk(chunks or shape)
        for number, parameters in filters:
            properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, parameters)
        data = h5d.create(out.id, b"x_train", h5t.STD_U8LE, h5s.create_simple(shape), properties)
        data.write_direct_chunk((0,) * len(shape), chunk)
    return change


GZIP, SHUFFLE, FLETCHER32, LZF, SZIP = (1, (6,)), (2, (1,)), (3, ()), (32000, (4, 261, 31360)), (4, (141, 8, 8, 784))
SIZE = X[0].size
whole = X[0].tobytes()
replaced("gzip_garbage", "does not unpack", raw_chunks(b"no gzip at all" * 20, GZIP))
replaced("gzip_short", "does not unpack", raw_chunks(zlib.compress(whole[:-1]), GZIP))
replaced("gzip_very_short", "does not unpack", raw_chunks(zlib.compress(whole[:100]), GZIP))
replaced("gzip_long", "does not unpack", raw_chunks(zlib.compress(whole + b"1"), GZIP))
replaced("gzip_bomb", "damaged", raw_chunks(zlib.compress(bytes(1 << 26), 1), GZIP))
replaced("gzip_cut", "does not unpack", raw_chunks(zlib.compress(whole)[:-10], GZIP))
replaced("gzip_twice", "twice", raw_chunks(zlib.compress(zlib.compress(whole)), GZIP, GZIP))
replaced("shuffle_short", "stored", raw_chunks(whole[:-3], SHUFFLE))
replaced("checksum_short", "checksum", raw_chunks(whole[:-3], FLETCHER32))
replaced("checksum_tiny", "checksum", raw_chunks(b"ab", FLETCHER32))
replaced("checksum_wrong", "checksum", raw_chunks(whole + b"abcd", FLETCHER32))
replaced("lzf_garbage", "does not unpack", raw_chunks(b"\xff" * 300, LZF))
replaced("lzf_short", "does not unpack", raw_chunks(b"\x1f" + bytes(32), LZF))
replaced("lzf_before_start", "does not unpack", raw_chunks(b"\x01ab\x20\x07" * 100, LZF))
replaced("filter_33333", "filter number 33333", raw_chunks(whole, (33333, (1, 2))))
replaced("filter_blosc", "Blosc (32001)", raw_chunks(whole, (32001, (2, 2, 1, SIZE))))
replaced("chunk_too_large", "h5repack", raw_chunks(zlib.compress(bytes(1 << 27), 1), GZIP, shape=(1 << 17, 32, 32)))



# ---- damaged structures that libhdf5 1.10 does not survive (found by make fuzz)
def patched(name, message, source, marker, offset, value, last=False, expected="reject"):
    """The file `source` with other bytes at `offset` from the first marker in it, or from the last one."""
    with open(f"{FOLDER}/{source}.h5", "rb") as file:
        data = bytearray(file.read())
    at = (data.rindex if last else data.index)(marker) + offset
    data[at:at + len(value)] = value
    with open(f"{FOLDER}/{name}.h5", "wb") as file:
        file.write(data)
    row(name, expected, message)


def whole_number(value):
    return value.to_bytes(8, "little")


patched("shuffle_of_huge_elements", "", "cut_chunks", b"shuffle\0", 8, b"\xff" * 4, expected="same")  # nothing to move, soon
SIGNATURE = b"\x89HDF"
for source in ("contiguous", "user_block"):
    for address in (0, 28, 2**40):  # at its start, in its superblock, nowhere
        patched(f"{source}_driver_at_{address}", "family", source, SIGNATURE, 48, whole_number(address))
for source, offset in (("contiguous", 13), ("latest", 9)):
    for size in (0, 4, 16, 255):
        for what in (0, 1):
            patched(f"{source}_{('addresses', 'lengths')[what]}_of_{size}", "those of 8", source, SIGNATURE, offset + what, bytes([size]))
for offset, what in ((8, "size"), (16, "free"), (24, "address")):
    for value, how in ((2**62, "huge"), (10**7, "large"), (2**64 - 2, "negative")):
        patched(f"heap_{what}_{how}", "a heap of names", "contiguous", b"HEAP", offset, whole_number(value))
patched("heap_no_size", "a heap of names", "contiguous", b"HEAP", 8, whole_number(0))
beyond = "a size or an address in its header"
UNMARKED = b"\0\x07\0\0" + whole_number(2**40)  # not to be found by its signature and what always follows
patched("heap_unmarked", beyond, "contiguous", b"HEAP", 4, UNMARKED)
patched("heap_of_a_group_unmarked", beyond, "groups", b"HEAP", 4, UNMARKED, last=True)
patched("heap_of_other_files_unmarked", beyond, "external_storage", b"HEAP", 4, UNMARKED, last=True)
LAYOUT, FILL = b"\x08\0\x18\0\0\0\0\0\x03\x01", b"\x02\x02\x02\x01\0\0\0\0"
patched("layout_old_beyond", beyond, "contiguous", LAYOUT, 8, b"\x01\x01\0" + bytes(9) + b"\0\0\0\x7f")
patched("fill_value_beyond", beyond, "contiguous", FILL, 4, b"\0\0\0\x7f")
NOWHERE = b"\xff" * 8
for offset, what in ((0, "tree"), (8, "heap")):  # of the root group, whose header has them, and nothing else
    patched(f"group_{what}_nowhere", beyond, "contiguous", b"\x11\0\x10\0", 8 + offset, NOWHERE)
patched("group_links_nowhere", beyond, "contiguous", b"TREE", 32, NOWHERE)
patched("group_object_nowhere", beyond, "contiguous", b"SNOD", 16, NOWHERE)


ROOT, GOES_ON, TIMES = b"\x11\0\x10\0", b"\x10\0\x10\0", 2000


def in_circles(name, message, head, block):
    """The file "contiguous" whose root's only message is `head`, which leads to `block` behind its end; of that address."""
    with open(f"{FOLDER}/contiguous.h5", "rb") as file:
        data = bytearray(file.read())
    here = len(data)
    at = data.index(ROOT)
    data[at:at + len(head(here))] = head(here)
    data += block(here)
    data[40:48] = whole_number(len(data))  # where the file ends
    with open(f"{FOLDER}/{name}.h5", "wb") as file:
        file.write(data)
    row(name, "reject", message)


def goes_on(here):
    return GOES_ON + bytes(4) + whole_number(here) + whole_number(24 * TIMES)


in_circles("tree_in_itself", "in circles", lambda here: ROOT + bytes(4) + whole_number(here), lambda here: (
    b"TREE\0\1" + TIMES.to_bytes(2, "little") + NOWHERE * 2 + bytes(8) + (whole_number(here) + bytes(8)) * TIMES))
in_circles("header_in_itself", "can't be opened", goes_on, lambda here: goes_on(here) * TIMES)  # the library sees it
keras("truths", "accept", x=each(X, lambda images: images > 127))
ENUM_BASE = b"\x10\x08\0\0\x01\0\0\0\0\0\x08\0"
patched("enumeration_beyond", beyond, "truths", ENUM_BASE, 4, b"\0\0\xfb\0")
patched("enumeration_endless", beyond, "truths", b"FALSE\0\0\0", 5, b"xxxTRUExxxx")
patched("fuel_attribute_endless", beyond, "fuel", b"split\0\0\0", 5, b"xxx")
for field in (b"source", b"start", b"stop", b"indices"):
    patched(f"fuel_{field.decode()}_beyond", "damaged", "fuel", field.ljust(8, b"\0"), 8, b"\0\0\0\x7f")
patched("fuel_texts_of_no_bytes", "names no", "fuel", b"source\0\0", 8 + 4 + 28 + 4, bytes(4))


def attributed(name, libver, shape=(3,)):
    """The file `name` with an attribute, and types that stand in headers of their own."""
    with h5py.File(f"{FOLDER}/{name}.h5", "w", libver=libver) as out:
        out["byte"], out["number"] = np.dtype("u1"), np.dtype("<i8")
        for key, array in zip(NAMES, (*X, *Y)):
            out.create_dataset(key, data=array, dtype=out["byte"])
        out.attrs["note"] = np.zeros(shape, "<i8")
        out.attrs.create("elsewhere", np.zeros(shape, "<i8"), dtype=out["number"])
    row(name, "same")


attributed("attributes", "earliest")
attributed("attributes_latest", "latest")
attributed("attributes_empty", "earliest", (0, 2**40))
for attribute in ("note", "elsewhere"):
    marker = attribute.encode() + b"\0"
    for offset, what in ((-6, "name"), (-4, "type"), (-2, "space")):
        patched(f"attributes_{attribute}_{what}_beyond", beyond, "attributes", marker, offset, b"\0\x66")
# Behind the name of 8 bytes in the old header: the type of 16 (filled up), rank and extent of the space.
patched("attributes_rank_beyond", beyond, "attributes", b"note\0\0\0\0", 8 + 16 + 1, b"\x7f")
for extent in (4, 8, 2**31, 2**62):
    patched(f"attributes_extent_{extent}", beyond, "attributes", b"note\0\0\0\0", 8 + 16 + 8, whole_number(extent))
for size in (9, 2**31):
    patched(f"attributes_of_{size}_bytes", beyond, "attributes", b"note\0\0\0\0", 8 + 4, size.to_bytes(4, "little"))


# ---- one split a file
def one(name, images=X[0], labels=Y[0], names=("images", "labels"), expected="one", options="", message="", attributes=(),
        **file):
    """attributes: (dataset, name, value)."""
    with h5py.File(f"{FOLDER}/one_{name}.h5", "w", **file) as out:
        for key, array in zip(names, (images, labels)):
            out[key] = array
        for key, attribute, value in attributes:
            out[key].attrs[attribute] = value
    row("one_" + name, expected, message, options)


def refused_one(name, message, **how):
    one(name, expected="one reject", message=message, **how)


C = RGB_X[0]
for pair in (("images", "labels"), ("data", "label"), ("data", "labels"), ("features", "labels"), ("features", "targets"),
             ("Data/features", "Data/targets"), ("Data/images", "Data/labels"), ("x", "y"), ("X", "y"), ("input", "output"),
             ("train_set_x", "train_set_y"), ("test_set_x", "test_set_y"), ("train_images", "train_labels"),
             ("train/x", "train/y"), ("train/data", "train/label")):
    one("named_" + "_".join(pair).replace("/", "_"), names=pair)
one("named_by_option", names=("pictures", "kinds"), options="images=pictures labels=kinds")

# every order of the axes, with and without channels
for order in map("".join, itertools.permutations("nhw")):
    one(order, X[0].transpose(["nhw".index(axis) for axis in order]), options="axes=" + order)
for order in map("".join, itertools.permutations("nchw")):
    one(order, C.transpose(["nchw".index(axis) for axis in order]), options="axes=" + order, expected="one rgb")
for order in ("chw", "hwc", "cwh", "whc"):
    flat = C.transpose([0] + ["nchw".index(axis) for axis in order]).reshape(TRAIN, -1)
    one(f"flat_n{order}", flat, options="axes=n" + order, expected="one rgb")
    one(f"flat_{order}n", flat.T, options=f"axes={order}n", expected="one rgb")
one("hwn_by_shape", X[0].transpose(1, 2, 0))
one("hwcn_by_shape", C.transpose(2, 3, 1, 0), expected="one rgb")
one("chwn_by_shape", C.transpose(1, 2, 3, 0), expected="one rgb")
one("nhwc_bgr", C.transpose(0, 2, 3, 1)[..., ::-1], options="bgr=1", expected="one rgb")
one("nchw_bgr", C[:, ::-1], options="bgr=1", expected="one rgb")
refused_one("grey_bgr", "1 channels can't be", options="bgr=1")
refused_one("square_of_images", "counts the images", images=X[0][:28], labels=Y[0][:28])
refused_one("no_such_count", "40 images, but 39 labels", labels=Y[0][:39])
refused_one("axes_too_few", "4 dimensions, --axes nhw 3", images=C, options="axes=nhw")
refused_one("axes_unknown", "no order of axes", options="axes=nxyw")
refused_one("axes_twice", "no order of axes", options="axes=nhhw")
refused_one("axes_flat", "first or the last", images=X[0].reshape(TRAIN, -1), options="axes=hnw")
refused_one("without_labels", "holds 'images', but no 'labels'", names=("images", "other"))
refused_one("in_another_file", "holds 'x', but no 'y'", names=("x", "other"))


def in_two_files(name, expected, message="", labels=Y[0]):
    """As PatchCamelyon's."""
    for suffix, array in (("x", C.transpose(0, 2, 3, 1)), ("y", labels)):
        with h5py.File(f"{FOLDER}/one_{name}_{suffix}.h5", "w") as out:
            out[suffix] = array
    row(f"one_{name}_x", expected, message)


in_two_files("pcam", "one rgb", labels=Y[0][:, None, None, None])
in_two_files("pcam_short", "one reject", "one_pcam_short_x.h5: /x: 40 images, but 39 labels in /y", labels=Y[0][:39])
in_two_files("pcam_negative", "one reject", "one_pcam_negative_y.h5", labels=Y[0].astype("i2") - 1)
with h5py.File(f"{FOLDER}/one_pcam_unlabelled_x.h5", "w") as out, h5py.File(f"{FOLDER}/one_pcam_unlabelled_y.h5", "w") as sister:
    out["x"], sister["z"] = X[0], Y[0]
row("one_pcam_unlabelled_x", "one reject", "one_pcam_unlabelled_y.h5")
one("wrapped", X[0].view("i1"), options="scale=wrapped")
refused_one("wrapped_untold", "wrapped", images=X[0].view("i1"))
refused_one("wrapped_int16", "only int8", images=X[0].astype("i2"), options="scale=wrapped")
one("labels_in_a_row", labels=Y[0][None])

MATLAB = [("images", "MATLAB_class", np.bytes_("uint8"))]
one("matlab", X[0].transpose(0, 2, 1), Y[0][None].astype("f8"), attributes=MATLAB, userblock_size=512)
one("matlab_rgb", C.transpose(0, 1, 3, 2), Y[0][None].astype("f8"), attributes=MATLAB, expected="one rgb", userblock_size=512)
one("matlab_images_first", X[0].transpose(2, 1, 0), Y[0][:, None], attributes=MATLAB)
one("matlab_rgb_images_first", C.transpose(1, 3, 2, 0), Y[0][:, None], attributes=MATLAB, expected="one rgb")
one("matlab_flat", X[0].reshape(TRAIN, -1).T, Y[0][None], attributes=MATLAB, options="axes=hwn")
refused_one("matlab_flat_untold", "--axes hwn or whn", images=X[0].reshape(TRAIN, -1).T, labels=Y[0][None], attributes=MATLAB)

NEON = [("input", "lshape", np.array([3, 32, 32])), ("output", "nclass", 10)]
one("neon", C.reshape(TRAIN, -1), Y[0][:, None].astype("i4"), ("input", "output"), "one rgb", attributes=NEON)
refused_one("neon_other_shape", "images of (3,32,31)", images=C.reshape(TRAIN, -1), names=("input", "output"),
            attributes=[("input", "lshape", np.array([3, 32, 31]))])
refused_one("neon_no_shape", "lshape", images=C.reshape(TRAIN, -1), names=("input", "output"),
            attributes=[("input", "lshape", np.array([3, 32]))])
refused_one("neon_bad_shape", "lshape", images=C.reshape(TRAIN, -1), names=("input", "output"),
            attributes=[("input", "lshape", np.array([3, 32.5, 32]))])


# ---- what is often mistaken for data, or holds them in a way that is not read
def other(name, message, fill):
    with h5py.File(f"{FOLDER}/other_{name}.h5", "w") as out:
        fill(out)
    row("other_" + name, "reject", message)


def pandas(out):
    out.create_group("df").attrs["pandas_type"] = np.bytes_("frame")


def pytables(out):
    out["table"] = np.zeros(3, [("image", "u1", (2, 2)), ("label", "u1")])
    out["table"].attrs["FIELD_0_NAME"] = np.bytes_("image")


def enormous(out):
    """Eight terabytes that take no place on the disk."""
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5d.FILL_TIME_NEVER)
    for key, shape in (("images", (400_000, 4500, 4500)), ("labels", (400_000,))):
        h5d.create(out.id, key.encode(), h5t.STD_U8LE, h5s.create_simple(shape), properties)


other("keras_model", "Keras model", lambda out: out.attrs.__setitem__("model_config", "{}"))
other("results", "results of a run", lambda out: out.create_group("curve"))
other("model", "model file", lambda out: out.attrs.__setitem__("model", "lenet5"))
other("neighbours", "nearest neighbours", lambda out: out.__setitem__("neighbors", [[1]]))
other("lbann", "LBANN", lambda out: out.create_group("RUN_ID/000/inputs"))
other("pandas", "pandas", pandas)
other("pytables", "PyTables", pytables)
other("group_a_class", "groups alone", lambda out: [out.create_group(name) for name in ("cat", "dog")])
other("dataset_a_class", "at its root: cat, dog", lambda out: [out.__setitem__(name, X[0]) for name in ("cat", "dog")])
other("nothing", "at its root: nothing", lambda out: None)
other("enormous", "of memory, and", enormous)
table.close()
