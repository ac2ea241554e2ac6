#!/bin/sh
# From a built bin/wasp to a trained LeNet-5 and its plots.
# usage: quickstart.sh MPIEXEC PYTHON     EPOCHS=n (default 5) shortens it; OUT=folder (default results/quickstart)
set -eu
mpiexec=$1 python=$2
epochs=${EPOCHS:-5} out=${OUT:-results/quickstart}
source_folder=/usr/share/datasets/fashion-mnist  # Debian's package dataset-fashion-mnist
data=data/fashion-mnist.h5

say() { printf '\n$ %s\n' "$*"; "$@"; }

mkdir -p "$out"
[ -f "$data" ] || say bin/wasp data import idx "$source_folder" --out "$data"
run=$out/wasp-4-ranks.h5
rm -f "$run" "$out/lenet5.h5"
say "$mpiexec" -n 4 bin/wasp train --data "$data" --model lenet5 --protocol wasp --epochs "$epochs" \
    --batch 16 --lr 0.01 --lr-schedule cosine --momentum 0.9 --threads 1 --out "$run" --save-model "$out/lenet5.h5"
say bin/wasp results show "$run"
say "$python" results/plot.py "$run" --out "$out"
printf '\nThe run: %s (HDF5; docs/RESULTS.md). The plots:\n' "$run"
ls "$out"/*.png
