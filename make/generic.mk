# Any Debian 12 machine: every variable that a machine may set, with its default.
CXX        := g++
PYTHON     := /usr/bin/python3

# Code outside the vector kernels. The kernels of src/*/*.simd.cpp are compiled once per entry of SIMD
# and chosen at run time.
ARCH_FLAGS := -march=x86-64-v2
SIMD       := avx avx2 avx512
SIMD_FLAGS.avx    := -mavx
SIMD_FLAGS.avx2   := -mavx2 -mfma
SIMD_FLAGS.avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512

# Libraries. The rpath to the OpenMP build of OpenBLAS matters: without it Debian's alternatives load
# whichever build they point to, and the pthread one fights OpenMP's threads.
LIB_DIR    := /usr/lib/x86_64-linux-gnu
ifeq ($(MPI),openmpi)
MPIEXEC    := mpiexec.openmpi
MPI_FLAGS  := -DOMPI_SKIP_MPICXX -isystem $(LIB_DIR)/openmpi/include
MPI_LIBS   := -L$(LIB_DIR)/openmpi/lib -lmpi
# As MPICH does unasked: more ranks than cores, bound to none, root may, too, and no second account of an error. (In the
# environment, so that who starts ranks needs to know no more than the name of mpiexec.)
export OMPI_MCA_rmaps_base_oversubscribe  := 1
export OMPI_MCA_hwloc_base_binding_policy := none
export OMPI_MCA_orte_execute_quiet        := 1
export OMPI_ALLOW_RUN_AS_ROOT             := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM     := 1
else
MPIEXEC    := mpiexec.mpich
MPI_FLAGS  := -DMPICH_SKIP_MPICXX -isystem /usr/include/x86_64-linux-gnu/mpich
MPI_LIBS   := -lmpich
endif
BLAS_DIR   := $(LIB_DIR)/openblas-openmp
BLAS_FLAGS := -isystem /usr/include/x86_64-linux-gnu/openblas-openmp
BLAS_LIBS  := -L$(BLAS_DIR) -lopenblas -Wl,-rpath,$(BLAS_DIR)
HDF5_FLAGS := -isystem /usr/include/hdf5/serial
HDF5_LIBS  := -L$(LIB_DIR)/hdf5/serial -lhdf5_hl -lhdf5 -Wl,-rpath,$(LIB_DIR)/hdf5/serial
# Convolutions of the ResNets; ONEDNN=0: by OpenBLAS alone.
ONEDNN     := 1
ONEDNN_FLAGS = $(if $(filter 1,$(ONEDNN)),-DHAVE_ONEDNN)
ONEDNN_LIBS  = $(if $(filter 1,$(ONEDNN)),-ldnnl)
# Virtual time (--cluster sim:…); SIMGRID=0: none.
SIMGRID    := 1
SIMGRID_LIBS = $(if $(filter 1,$(SIMGRID)),-lsimgrid)
OTHER_FLAGS := -DTOML_HEADER_ONLY=0 -DTOML_SHARED_LIB=1
OTHER_LIBS := -lfmt -lz -lpng -ltomlplusplus -lhwloc
TEST_LIBS  := -lgtest
BENCH_LIBS := -lbenchmark
