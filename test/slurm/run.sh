#!/bin/sh
# jobs/train.sbatch on a real Slurm with four virtual nodes; says so where this machine can't have one.
# usage: run.sh WASP MPIEXEC PYTHON     ends with the line 'N passed, N failed'
set -u
folder=$(dirname "$0")
if ! missing=$("$folder/cluster.sh" --missing); then
    echo "left out: tests on Slurm need $missing"
    echo "0 passed, 0 failed"
    exit 0
fi
exec "$folder/cluster.sh" 4 "$3" "$folder/cases.py" "$1" "$2"
