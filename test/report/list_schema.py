#!/usr/bin/python3
"""List what an HDF5 file holds, one line an object or attribute: name, type, rank, units, scales."""
import sys

import h5py

SCALES = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}


def type_name(dtype):
    return "string" if h5py.check_string_dtype(dtype) else str(dtype)


def list_attributes(item, path, inline=()):
    for name in sorted(set(item.attrs) - SCALES - set(inline)):
        attribute = item.attrs.get_id(name)
        print(f"{path}@{name} {type_name(attribute.dtype)} rank {len(attribute.shape)}")


def list_dataset(item):
    line = f"{item.name} {type_name(item.dtype)} rank {item.ndim}"
    if "units" in item.attrs:
        line += f" units {item.attrs['units']}"
    if any(d.label for d in item.dims):
        line += " along " + ", ".join(f"{d.label}={d[0].name}" for d in item.dims)
    if h5py.h5ds.is_scale(item.id):
        line += " (scale)"
    if "description" not in item.attrs:
        line += " WITHOUT DESCRIPTION"
    print(line)
    list_attributes(item, item.name, inline=("units", "description"))


def list_group(group):
    print(f"{group.name} group")
    list_attributes(group, group.name)
    for name in sorted(group):
        if isinstance(group[name], h5py.Group):
            list_group(group[name])
        else:
            list_dataset(group[name])


with h5py.File(sys.argv[1], "r") as file:
    list_group(file)
