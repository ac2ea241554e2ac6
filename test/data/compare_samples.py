#!/usr/bin/python3
"""Compare what wasp makes of the data files of other programs with what h5py makes of them.

usage: compare_samples.py WASP FOLDER [--sanitized]
FOLDER: with layouts/, real/ and hostile/ and their INDEX.tsv. Every file of layouts/ and real/ must be imported to the
very pixels and labels that h5py reads, or refused for the reason given below; every file of hostile/ must get the
treatment that its INDEX.tsv expects, in a second and 200 MB (not measured of a --sanitized program), and leave nothing behind.
Prints a table: file, verdict, seconds, MB, what wasp says.
"""
import csv
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

WASP, FOLDER = sys.argv[1:3]
SANITIZED = "--sanitized" in sys.argv
MOST_SECONDS, MOST_MEGABYTES = 1.0, 200
deviations = 0


def run(*words):
    """Exit code, seconds, MB and the last line that the program says."""
    with tempfile.TemporaryFile() as said:
        start = time.monotonic()
        process = subprocess.Popen([WASP, *words], stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().split("\n")
    return process.returncode, time.monotonic() - start, usage.ru_maxrss / 1024, lines


def report(name, fine, seconds, megabytes, lines, why=""):
    global deviations
    deviations += not fine
    words = lines[-1].replace(FOLDER, "").removeprefix("wasp: error: ")
    print(f"{'ok ' if fine else 'BAD'} {name:32} {seconds:5.2f} s {megabytes:4.0f} MB  {words[:150]}{'  !! ' + why if why else ''}")


# ---- layouts and real: what h5py sees
def whole(images, labels, axes="nhw", base=0):
    """One split: dataset names, the order of the axes of the images, and the first class."""
    def read(file):
        data, classes = file[images][...], file[labels][...] - np.uint8(base)
        if "c" not in axes:
            data, order = data[..., None], axes + "c"
        else:
            order = axes
        return [(data.transpose([order.index(letter) for letter in "nchw"]), classes)]
    return read


def both(names, axes):
    def read(file):
        return [whole(images, labels, axes)(file)[0] for images, labels in names]
    return read


def fuel(targets, rows=None):
    """Rows of train and test: (start, stop), or by the lists of indices."""
    def read(file):
        splits = [file["train_indices"][...], file["test_indices"][...]] if rows is None else [np.arange(*r) for r in rows]
        return [(file["features"][...][s], file[targets][...][s]) for s in splits]
    return read


def of_records(rows):
    """Fuel's ranges as the file itself gives them."""
    def read(file):
        table = {(r["split"].decode(), r["source"].decode()): (r["start"], r["stop"]) for r in file.attrs["split"]}
        return fuel(rows, [table["train", "features"], table["test", "features"]])(file)
    return read


def flat(images, labels, shape):
    return lambda file: [(file[images][...].reshape(-1, *shape), file[labels][...])]


def pcam(file):
    with h5py.File(file.filename.replace("_x.", "_y.")) as sister:
        return [(file["x"][...].transpose(0, 3, 1, 2), sister["y"][...])]


ONE = whole("images", "labels")
GREY_KERAS = both([("x_train", "y_train"), ("x_test", "y_test")], "nhw")
CAFFE_SAMPLE = ["--axes", "nchw", "--scale", "none", "--label-base", "1"]
READ = {  # file: what it holds, and the options that wasp needs
    "fuel_mnist.h5": (of_records("targets"), []),
    "fuel_mnist_bool.h5": (of_records("targets"), []),
    "fuel_cifar100.h5": (of_records("fine_labels"), []),
    "fuel_indices.h5": (fuel("targets"), []),
    "caffe_mnist_train.h5": (whole("data", "label", "nchw"), []),
    "caffe_mnist_test.h5": (whole("data", "label", "nchw"), []),
    "digits_0.h5": (whole("data", "label", "nchw"), []),
    "keras_mnist.h5": (GREY_KERAS, []),
    "keras_cifar10.h5": (both([("x_train", "y_train"), ("x_test", "y_test")], "nhwc"), []),
    "groups_train_test.h5": (both([("train/images", "train/labels"), ("test/images", "test/labels")], "nhw"), []),
    "images_labels.h5": (ONE, []),
    "usps_style.h5": (lambda file: [flat(f"{s}/data", f"{s}/target", (1, 28, 28))(file)[0] for s in ("train", "test")], []),
    "dlai_test.h5": (whole("test_set_x", "test_set_y", "nhwc"), []),
    "mpi_learn_mnist_train_0.h5": (whole("features", "labels", "nhwc"), []),
    "mpi_learn_mnist_train_1.h5": (whole("features", "labels", "nhwc"), []),
    "neon_train.h5": (flat("input", "output", (3, 32, 32)), []),
    "matlab_v73_renamed.h5": (whole("images", "labels", "nwh"), []),
    "pytables_earray_zlib.h5": (whole("Data/features", "Data/targets"), []),
    "pcam_style_x.h5": (pcam, []),
    "st_contiguous.h5": (ONE, []), "st_chunk1_gzip9.h5": (ONE, []), "st_chunk_split_image.h5": (ONE, []), "st_lzf.h5": (ONE, []),
    "st_szip.h5": (ONE, []), "st_scaleoffset.h5": (ONE, []), "st_libver_latest.h5": (ONE, []), "st_userblock_1024.h5": (ONE, []),
    "st_compact.h5": (ONE, []), "st_label_enum.h5": (whole("images", "labels", "nhwc"), []),
    "st_scaleoffset_f32_lossy.h5": (ONE, ["--scale", "none"]),
    "st_int8_wrapped.h5": (lambda file: [(file["images"][...].view("u1")[:, None], file["labels"][...])], ["--scale", "wrapped"]),
    "st_float_minus1_1.h5": (ONE, ["--scale", "none"]),
    "st_flat784.h5": (flat("images", "labels", (1, 28, 28)), []),
    "st_nhw1.h5": (whole("images", "labels", "nhwc"), []), "st_n1hw.h5": (whole("images", "labels", "nchw"), []),
    "st_hwn.h5": (whole("images", "labels", "hwn"), []), "st_cifar_hwcn.h5": (whole("images", "labels", "hwcn"), []),
    "caffe_sample_data.h5": (whole("data", "label", "nchw", 1), CAFFE_SAMPLE),
    "caffe_sample_data_2_gzip.h5": (whole("data", "label", "nchw", 1), CAFFE_SAMPLE),
}
LISTS = {"caffe_list.txt": ["caffe_mnist_train.h5", "caffe_mnist_test.h5"],
         "mpi_learn_train_mnist.list": ["mpi_learn_mnist_train_0.h5", "mpi_learn_mnist_train_1.h5"]}
REFUSED = {  # file: what the message must say
    "fuel_vlen.h5": "lists of variable length",
    "pcam_style_y.h5": "at its root: y",
    "lbann_conduit.h5": "LBANN",
    "lbann_legacy_sample0.h5": "LBANN",
    "ann_mnist-784-euclidean.h5": "nearest neighbours",
    "pytables_carray_blosc.h5": "Blosc",
    "pytables_table.h5": "PyTables",
    "pandas_fixed.h5": "pandas",
    "st_external.h5": "another file",
    "st_external_link.h5": "link to another file",
    "st_encoded_png_vlen.h5": "encoded images",
    "st_one_dataset_per_image.h5": "groups alone",
    "st_group_per_class.h5": "at its root: airplane",
}
UNTOLD = ["st_scaleoffset_f32_lossy.h5", "st_int8_wrapped.h5", "st_float_minus1_1.h5", "caffe_sample_data.h5",
          "caffe_sample_data_2_gzip.h5"]  # refused unless an option says what they do not


def as_classes(labels, count):
    labels = labels.reshape(-1) if labels.size == count else labels.reshape(count, -1).argmax(axis=1)
    return labels.astype("i8")


def same(split, group):
    """Whether a split that h5py read is the one that wasp wrote; whole pixels are bytes, others 0 … 1."""
    pixels, labels = split
    mine = group["images"][...]
    if pixels.dtype == bool:
        pixels = pixels * np.uint8(255)
    if mine.dtype == np.uint8:
        if pixels.max() <= 1 and mine.max() > 1:
            pixels = np.rint(pixels.astype("f8") * 255)
        pixels_fit = np.array_equal(mine, pixels)
    else:
        pixels_fit = np.allclose(mine, pixels, rtol=0, atol=1e-6)
    return pixels_fit and np.array_equal(group["labels"][...], as_classes(labels, len(pixels)))


def compare(name, path, splits, options, scratch):
    out = f"{scratch}/out.h5"
    files = [path] if len(splits) == 2 else [path, path]
    code, seconds, megabytes, lines = run("data", "import", "hdf5", *files, "--out", out, *options)
    if code != 0:
        return report(name, False, seconds, megabytes, lines, f"exit {code}")
    with h5py.File(out) as file:
        fine = all(same(split, file[group]) for split, group in zip(splits * 2, ("train", "test")))
    os.remove(out)
    code = run("data", "check", path)[0] if not options else 0
    report(name, fine and code == 0, seconds, megabytes, lines, "" if fine else "other pixels or labels")


def refused(name, path, message):
    for command in (["check"], ["info"], ["import", "hdf5", "--out", "/nowhere.h5"]):
        code, seconds, megabytes, lines = run("data", *command, path)
        if command[0] == "import":
            lines = [f"{message} {name}"]  # where it can't write is said first
        fine = code == 2 and len(lines) == 1 and message in lines[0] and name in lines[0]
        if not fine or command[0] == "check":
            report(name, fine, seconds, megabytes, lines, "" if fine else f"exit {code}, expected: {message}")


def sound_files(scratch):
    folders = [f"{FOLDER}/layouts", f"{FOLDER}/real"]
    for path in sorted(f"{folder}/{name}" for folder in folders for name in os.listdir(folder)):
        name = os.path.basename(path)
        if name in ("INDEX.tsv", "st_external_raw.idx3"):
            continue
        if name in UNTOLD:
            refused(name, path, "convert the file with 'wasp data import hdf5'")
        if name in READ:
            with h5py.File(path) as file:
                splits = READ[name][0](file)
            compare(name, path, splits, READ[name][1], scratch)
        elif name in LISTS:
            parts = []
            for part in LISTS[name]:
                with h5py.File(f"{FOLDER}/layouts/{part}") as file:
                    pixels, labels = READ[part][0](file)[0]
                    parts.append((pixels, as_classes(labels, len(pixels))))
            compare(name, path, [tuple(np.concatenate(arrays) for arrays in zip(*parts))], [], scratch)
        elif name in REFUSED:
            refused(name, path, REFUSED[name])
        else:
            report(name, False, 0, 0, ["this script does not know it"])


def hostile_files():
    with open(f"{FOLDER}/hostile/INDEX.tsv", encoding="utf-8") as table:
        rows = list(csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    here = [os.path.dirname(FOLDER + "/hostile/x"), "."]
    before = [set(os.listdir(folder)) for folder in here]
    for name, expected in ((row[0], row[4]) for row in rows[1:]):
        path = f"{FOLDER}/hostile/{name}"
        code, seconds, megabytes, lines = run("data", "check", path)
        both_ways = " or " in expected
        if name in ("idx_label_count.idx1", "cifar100_as_cifar10.bin"):  # sound but for their company
            both_ways = True
        right = code in (0, 2) if both_ways else code == (0 if expected.startswith("accept") else 2)
        small = SANITIZED or (seconds < MOST_SECONDS and megabytes < MOST_MEGABYTES)
        one_line = len(lines) == 1 and name in lines[0]
        report(name, right and small and one_line, seconds, megabytes, lines,
               "" if right else f"exit {code}, expected: {expected}")
        info = run("data", "info", path)
        if info[0] not in (0, 2) or (code == 2 and info[0] != 2 and path.endswith(".h5")):
            report(name, False, *info[1:], f"info: exit {info[0]}")
    if before != [set(os.listdir(folder)) for folder in here]:
        report("hostile/", False, 0, 0, ["something was written"])


with tempfile.TemporaryDirectory() as scratch_folder:
    sound_files(scratch_folder)
hostile_files()
print(f"{deviations} deviations")
sys.exit(deviations != 0)
