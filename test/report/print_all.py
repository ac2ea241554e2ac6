"""Print all that a results file holds, but for its status: python print_all.py FILE"""
import sys

import h5py
import numpy

numpy.set_printoptions(threshold=sys.maxsize)


def show(name, item):
    for key, value in sorted(item.attrs.items()):
        if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "status"):
            print(name, key, value)
    if isinstance(item, h5py.Dataset):
        print(name, item.dtype, item[()])


with h5py.File(sys.argv[1]) as file:
    show("/", file)
    file.visititems(show)
