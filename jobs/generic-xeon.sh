# shellcheck shell=bash
# Two-socket Xeon nodes with environment modules: copy this file, and say what your site calls things. Names:
# jobs/README.md.
export WASP_SITE=generic-xeon
# export SBATCH_PARTITION=compute SBATCH_ACCOUNT=project  # sbatch reads these

# A rank a socket: its threads share memory that is near. sbatch --ntasks-per-node=… --cpus-per-task=… override it.
export WASP_RANKS_PER_NODE=${WASP_RANKS_PER_NODE:-2}
export WASP_PMI=${WASP_PMI:-pmi2}  # of MPICH; what your Slurm has: srun --mpi=list

if [[ -n ${SLURM_JOB_ID:-} ]] && command -v module >/dev/null; then
    module load gcc mpich hdf5 openblas onednn || return 1
fi
