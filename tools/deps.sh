#!/bin/sh
# Install the Debian packages that are missing, and say which and why.
# usage: deps.sh [--ci]     --ci: also what lint needs
set -eu

wanted() {
    cat <<END
g++                     the compiler
make                    the build
libmpich-dev            MPI: one-sided windows (MPICH)
mpich                   mpiexec.mpich
libopenblas-openmp-dev  matrix products, the build for OpenMP
libdnnl-dev             convolutions of the ResNets (oneDNN; make ONEDNN=0 does without)
libsimgrid-dev          virtual time (SimGrid; make SIMGRID=0 does without)
libhdf5-dev             data in, results out
libfmt-dev              messages
libcli11-dev            the command line
libtomlplusplus-dev     --config run.toml
libhwloc-dev            cores and sockets
zlib1g-dev              gzipped data files
libpng-dev              wasp data info --png
libgtest-dev            the tests
libbenchmark-dev        make bench
python3-h5py            reading results back; plots
python3-matplotlib      plots
dataset-fashion-mnist   the data of make quickstart
iproute2                the tests between two nodes (network namespaces)
END
    [ "${1:-}" = --ci ] || return 0
    cat <<END
libopenmpi-dev          make MPI=openmpi
openmpi-bin             make MPI=openmpi
qemu-user               make machines
clang                   make fuzz
clang-format            make lint
clang-tidy              make lint
cppcheck                make lint
shellcheck              make lint
chromium                the test of a study's page in a browser
slurm-client            make slurm
slurmctld               make slurm
slurmd                  make slurm
END
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "make deps installs Debian packages, and this is not a Debian system: see INSTALL for environment"
    echo "modules and Spack. If all libraries are there, go on with 'make' and 'make test'."
    exit 2
fi

missing=''
list=$(wanted "${1:-}")
while read -r package why; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] && continue
    missing="$missing $package"
    printf 'missing: %-24s %s\n' "$package" "$why"
done <<END
$list
END
[ -n "$missing" ] || exit 0

as_root=''
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "ask your administrator for:  apt-get install$missing"
        exit 2
    fi
    if [ ! -t 0 ]; then
        echo "not root and no terminal to ask on; run:  sudo apt-get install$missing"
        exit 2
    fi
    printf 'install them with sudo apt-get? [y/N] '
    read -r answer
    case $answer in [yY]*) as_root=sudo ;; *) echo "nothing installed; see INSTALL"; exit 2 ;; esac
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q || echo "deps: the package lists could not be renewed; trying with the old ones"
# shellcheck disable=SC2086
$as_root apt-get install -y -q --no-install-recommends $missing
