# shellcheck shell=bash
# Debian 12: Slurm, MPICH and all libraries from its packages, no modules. Names: jobs/README.md.
export WASP_SITE=debian
export WASP_PMI=${WASP_PMI:-pmi2}  # what Debian's MPICH speaks; its default, none, starts N jobs of one rank
export WASP_MPIEXEC=${WASP_MPIEXEC:-mpiexec.mpich}
