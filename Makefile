# Build, test and check. `make help` lists the targets; make/ holds what differs between machines.
MACHINE ?= generic
MODE    ?= release
MPI     ?= mpich
JOBS    ?= $(shell nproc)
Q       := $(if $(V),,@)
include make/$(MACHINE).mk
-include make/local.mk

# -g1: lines and functions, which is what traces show; all of -g takes a third of the compiler's time.
MODE_FLAGS.release := -O3 -g1 -DNDEBUG
MODE_FLAGS.debug   := -Og -g
MODE_FLAGS.asan    := -O1 -g1 -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
MODE_FLAGS.tsan    := -O1 -g1 -fsanitize=thread
# The tests themselves: half of all lines, of which neither speed nor undefined behaviour is of interest.
TEST_FLAGS.release := -O1
TEST_FLAGS.asan    := -fno-sanitize=undefined
# The inner loops of the vector kernels are blocked and unrolled by hand: -O3, partial redundancy elimination and the
# second scheduler would move loads across iterations and spill the registers that the blocks were cut for (g++ 12: up to
# a third slower).
KERNEL_FLAGS.release := -O2 -fno-tree-pre -fno-schedule-insns2
ifndef MODE_FLAGS.$(MODE)
$(error MODE=$(MODE): use release, debug, asan or tsan)
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
CXXFLAGS := -std=c++20 -fopenmp -ffp-contract=off $(MODE_FLAGS.$(MODE)) $(WARNINGS) $(EXTRA_FLAGS)
CPPFLAGS := -Iinclude -Itest $(BLAS_FLAGS) $(HDF5_FLAGS) $(ONEDNN_FLAGS) $(OTHER_FLAGS)
LDLIBS   := $(MPI_LIBS) $(BLAS_LIBS) $(HDF5_LIBS) $(ONEDNN_LIBS) $(SIMGRID_LIBS) $(OTHER_LIBS)

B       := build/$(MACHINE)-$(MODE)$(if $(filter 1,$(ONEDNN)),,/no-onednn)
# What knows the MPI library is in a folder of its own; all else serves every library.
M       := $B/$(MPI)
# The programs.
P       := $(if $(filter mpich,$(MPI)),$B,$M)
LEFT_OUT := %.simd.cpp src/app/main.cpp $(if $(filter 1,$(ONEDNN)),,src/tensor/onednn_%) \
           $(if $(filter 1,$(SIMGRID)),,src/cluster/sim_%)
SOURCES := $(filter-out $(LEFT_OUT),$(wildcard src/*/*.cpp))
KERNELS := $(wildcard src/*/*.simd.cpp)
objects_of = $(foreach file,$(1:.cpp=.o),$(if $(filter mpi_%,$(notdir $(file))),$M,$B)/$(file))
OBJECTS := $(call objects_of,$(SOURCES)) $(foreach isa,$(SIMD),$(KERNELS:%.simd.cpp=$B/%.$(isa).o))
TESTS   := $(wildcard test/*.cpp test/*/*.cpp)
BENCHES := $(wildcard test/bench/*.cpp)
FUZZERS := $(wildcard test/fuzz/*.cpp)
TEST_OBJECTS  := $(call objects_of,$(filter-out $(BENCHES) $(FUZZERS) $(if $(filter 1,$(SIMGRID)),,test/cluster/sim_%),$(TESTS)))
BENCH_OBJECTS := $(BENCHES:%.cpp=$B/%.o)
PRELOADS := $(patsubst test/preload/%.c,$B/%.so,$(wildcard test/preload/*.c))
SCRIPTS := $(wildcard tools/*.sh jobs/*.sh jobs/*.sbatch test/*/*.sh .ci/run)
FILES   := $(wildcard include/*/*.hpp src/*/*.[ch]pp test/*.[ch]pp test/*/*.[ch]pp)

all: bin/wasp  ## build the program, bin/wasp

quickstart: deps  ## install what is missing, build, train LeNet-5 with WASP on 4 MPI ranks, plot
	@$(MAKE) --no-print-directory -j $(JOBS) all
	@tools/quickstart.sh "$(MPIEXEC)" "$(PYTHON)"

check: deps  ## install what is missing, build and run every test
	@$(MAKE) --no-print-directory -j $(JOBS) test

test: $P/wasp $P/tests $(PRELOADS)  ## build and run every test (without the installation)
	@tools/run_tests.sh $P "$(MPIEXEC)" "$(PYTHON)" $(TEST_ARGS)

slurm: $P/wasp  ## the job scripts on a real Slurm with virtual nodes (as root, with Debian's slurmctld slurmd slurm-client)
	@test/slurm/run.sh $P/wasp "$(MPIEXEC)" "$(PYTHON)"

# Builds for one processor are made for this alone.
machines: $P/wasp  ## the default, ivybridge and skylake builds on an emulated Ivy Bridge (qemu-user)
	@for machine in ivybridge skylake; do $(MAKE) --no-print-directory MACHINE=$$machine \
	    build/$$machine-$(MODE)/wasp || exit 1; done
	@test/machines/run.sh "$(CXX)" "$(MPIEXEC)" $P/wasp build/ivybridge-$(MODE)/wasp build/skylake-$(MODE)/wasp

bench: $P/bench  ## Google Benchmark of the kernels
	OMP_NUM_THREADS=1 $P/bench $(BENCH_ARGS)

fuzz: build/fuzz/fuzzer  ## libFuzzer on the readers of data files, FUZZ_SECONDS=60
	@test/fuzz/run.sh $< "$(PYTHON)" $(FUZZ_SECONDS)

chaos: $P/wasp $B/fault.so  ## runs of all protocols that are killed, stopped and robbed of their disk, N=200 SEED=1
	@test/chaos/run.sh "$(PYTHON)" --wasp $P/wasp --mpiexec "$(MPIEXEC)" --fault $B/fault.so --runs $(N) --seed $(SEED) \
	    $(CHAOS_ARGS)

lint: rooms $(patsubst %.o,%.tidy,$(call objects_of,$(SOURCES)) $B/src/app/main.o)  ## rooms, clang-format, clang-tidy, cppcheck, shellcheck; changes no source
	@clang-format --dry-run --Werror $(FILES)
	@shellcheck --severity=warning $(SCRIPTS)
	@cppcheck -j $(JOBS) --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	    --suppressions-list=tools/cppcheck.txt --std=c++20 -Iinclude src

rooms:  ## check that each room includes only what it may know
	@tools/check_rooms.sh

format:  ## rewrite the sources with clang-format
	clang-format -i $(FILES)

deps:  ## install the Debian packages that are missing (asks first if not root)
	@tools/deps.sh

clean:  ## remove everything that was built
	$(RM) -r build bin

info:  ## show what would be used
	@echo "MACHINE=$(MACHINE) MODE=$(MODE) MPI=$(MPI) SIMD='$(SIMD)'"
	@echo "$(CXX) $(CPPFLAGS) $(MPI_FLAGS) $(CXXFLAGS) $(ARCH_FLAGS)"
	@echo "libraries: $(LDLIBS)"; $(CXX) --version | head -n 1; $(MPIEXEC) --version 2>&1 | sed -n 2p

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n",$$1,$$2}' Makefile
	@echo "  MACHINE=generic|ivybridge|haswell|skylake|sapphirerapids|native  MODE=release|debug|asan|tsan  MPI=mpich|openmpi"
	@echo "  V=1: show the commands  (make/local.mk: your own settings)"

# That of the machine, mode and MPI that were asked for last, whichever is newer.
bin/wasp: $P/wasp FORCE
	@mkdir -p bin; cmp -s $< $@ || cp $< $@

$P/wasp: $B/src/app/main.o $(OBJECTS)
	@echo '  link     $@'
	$Q$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

# The program's objects come first: of an inline function that both have, theirs is taken.
$(TEST_OBJECTS): CXXFLAGS += $(TEST_FLAGS.$(MODE))
$P/tests: $(OBJECTS) $(TEST_OBJECTS)
	@echo '  link     $@'
	$Q$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) $(TEST_LIBS)

N    ?= 200
SEED ?= 1
$B/%.so: test/preload/%.c $B/flags
	@echo '  link     $@'
	$Q$(CC) -O1 -Wall -Wextra -shared -fPIC $< -o $@

$P/bench: $(BENCH_OBJECTS) $(OBJECTS)
	@echo '  link     $@'
	$Q$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) $(BENCH_LIBS)

# The readers of data files alone, which is soon built: clang++ has libFuzzer.
FUZZ_SECONDS ?= 60
FUZZ_CXX   := clang++
FUZZ_FLAGS := -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZED     := $(filter-out src/data/load_dataset.cpp,$(wildcard src/base/*.cpp src/h5/*.cpp src/data/*.cpp)) $(FUZZERS)
build/fuzz/%.o: %.cpp
	@mkdir -p $(@D); echo '  compile  $< for libFuzzer'
	$Q$(FUZZ_CXX) $(CPPFLAGS) -MMD -MP $(FUZZ_FLAGS) -c $< -o $@

build/fuzz/fuzzer: $(FUZZED:%.cpp=build/fuzz/%.o)
	@echo '  link     $@'
	$Q$(FUZZ_CXX) $(FUZZ_FLAGS) $^ -o $@ $(HDF5_LIBS) -lfmt -lz -lpng

# Objects are rebuilt when the flags change: they depend on a file that holds them.
FLAGS := $(CXX) $(CPPFLAGS) $(CXXFLAGS) $(ARCH_FLAGS) $(KERNEL_FLAGS.$(MODE)) $(TEST_FLAGS.$(MODE)) $(foreach isa,$(SIMD),$(SIMD_FLAGS.$(isa)))
$B/flags: FORCE
	@mkdir -p $B; echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

$M/flags: FORCE
	@mkdir -p $M; echo '$(MPI_FLAGS)' | cmp -s - $@ || echo '$(MPI_FLAGS)' > $@

$M/%.o $M/%.tidy: private CPPFLAGS += $(MPI_FLAGS)
define COMPILE
	@mkdir -p $(@D); echo '  compile  $<'
	$Q$(CXX) $(CPPFLAGS) -MMD -MP $(CXXFLAGS) $(ARCH_FLAGS) -c $< -o $@
endef
$B/%.o: %.cpp $B/flags ; $(COMPILE)
$M/%.o: %.cpp $B/flags $M/flags ; $(COMPILE)

# clang-tidy takes ten seconds a file: only those are read again that changed, themselves or in what they include.
define TIDY
	@echo '  tidy     $<'
	$Qclang-tidy --quiet $< -- $(CPPFLAGS) -std=c++20 -fopenmp $(ARCH_FLAGS) \
	    -Xclang -analyzer-config -Xclang mode=shallow 2> $@.log || { cat $@.log; exit 1; }
	@touch $@
endef
$B/%.tidy: %.cpp $B/%.o .clang-tidy ; $(TIDY)
$M/%.tidy: %.cpp $M/%.o .clang-tidy ; $(TIDY)

# A kernel file is compiled once per instruction set, into the namespace of that set. An inline function outside of it
# (printed if there is one) could replace that of the rest of the program, and end it on machines without the set.
define SIMD_RULE
$B/%.$(1).o: %.simd.cpp $B/flags
	@mkdir -p $$(@D); echo '  compile  $$< for $(1)'
	$Q$(CXX) $(CPPFLAGS) -MMD -MP $(CXXFLAGS) $(KERNEL_FLAGS.$(MODE)) -ffp-contract=fast \
	    $(SIMD_FLAGS.$(1)) -DSIMD=$(1) -c $$< -o $$@
	@$(if $(filter release,$(MODE)),! nm -C $$@ | grep ' [VWu] ' | grep -v ' wasp::$(1)::')
endef
$(foreach isa,$(SIMD),$(eval $(call SIMD_RULE,$(isa))))

# Which kernels were built: the dispatcher must not name others.
$B/src/tensor/dispatch.o $B/src/tensor/dispatch.tidy: CPPFLAGS += $(foreach isa,$(SIMD),-DHAVE_SIMD_$(isa))

# Who asks whether there is virtual time in this build: all that another SIMGRID compiles anew.
$B/simgrid: FORCE
	@mkdir -p $B; echo '$(SIMGRID)' | cmp -s - $@ || echo '$(SIMGRID)' > $@
KNOW_SIMGRID := $(foreach file,src/app/cluster_choice test/main,$B/$(file).o $B/$(file).tidy)
$(KNOW_SIMGRID): $B/simgrid
ifeq ($(SIMGRID),1)
$(KNOW_SIMGRID): CPPFLAGS += -DHAVE_SIMGRID
endif

# What a build is made with goes into every results file. A new commit rebuilds that one object.
COMMIT := $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
$B/commit: FORCE
	@mkdir -p $B; echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
$B/src/report/provenance.o: $B/commit
$B/src/report/provenance.o: CPPFLAGS += -DGIT_COMMIT='"$(COMMIT)"' \
    -DBUILD_FLAGS='"$(MACHINE) $(MODE): $(CXXFLAGS) $(ARCH_FLAGS)"'

-include $(FUZZED:%.cpp=build/fuzz/%.d) $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $B/src/app/main.d
.PHONY: all quickstart check test slurm machines bench fuzz chaos lint rooms format deps clean info help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
