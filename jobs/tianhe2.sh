# shellcheck shell=bash
# Tianhe-2: two Xeon E5-2692 v2 (12 cores each, AVX) and 64 GB a node; Slurm's commands are called yhrun, yhbatch, …
# Build with `make MACHINE=ivybridge`. Not tried on the machine itself: partition and modules differ between projects.
export WASP_SITE=tianhe2
export SBATCH_PARTITION=${SBATCH_PARTITION:-work}
export WASP_SRUN=${WASP_SRUN:-yhrun} WASP_SCONTROL=${WASP_SCONTROL:-yhcontrol}

# A rank a socket, 2 × 12 threads: threads share memory that is near and one copy of weights and activations; with 24 ranks
# there would be 24 stale pushes a step, with one rank half of what its threads read would lie at the other socket. --ntasks-per-node=… --cpus-per-task=… override it.
export WASP_RANKS_PER_NODE=${WASP_RANKS_PER_NODE:-2}
export WASP_PMI=${WASP_PMI:-pmi2}
