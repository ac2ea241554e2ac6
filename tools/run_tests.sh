#!/bin/sh
# Run every test: once with ranks as threads, then the tests of the seam and what stands on it in
# virtual time and under mpiexec, on one node and on two.
# usage: run_tests.sh BUILD_FOLDER MPIEXEC PYTHON [only] [RANKS…]     RANKS: for mpiexec, default 1 2 4 8; 0: none;
#        only: nothing but these, on one node
# Those of the Python tools are run in release builds only: others build the same tools.
# WASP_ENDS=N: so many whole runs on two nodes, 6 if not given
# WASP_SAMPLES=FOLDER: also read the data files of other programs there (test/data/samples.cpp)
set -u
build=$1 mpiexec=$2 python=$3; shift 3
only=''
[ "${1:-}" != only ] || { only=yes; shift; }
[ $# -gt 0 ] || set -- 1 2 4 8
log=$build/tests.log
passed=0 failed=0
export UCX_MEM_MMAP_HOOK_MODE=none  # its hooks in mmap() break the thread sanitizer
export GTEST_COLOR=no               # Open MPI gives rank 0 a terminal
: > "$log"

run() {  # run NAME SECONDS COMMAND…
    name=$1 limit=$2; shift 2
    echo "== $name"
    timeout -k 10 "$limit" "$@" > "$log.part" 2>&1
    code=$?
    cat "$log.part" >> "$log"
    grep -E '^\[  (PASSED|FAILED|SKIPPED) |^\[=====.*ran' "$log.part"
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\..*/\1/p' "$log.part" | tail -n 1)
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) tests*, listed below.*/\1/p' "$log.part" | tail -n 1)
    passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-0}))
    if [ $code != 0 ]; then
        [ "${bad:-0}" != 0 ] || { failed=$((failed + 1)); echo "$name ended with code $code"; }
        grep -vE '^\[ +(OK|RUN|-+) ' "$log.part" | tail -n 60
    elif [ -z "$ok" ]; then
        failed=$((failed + 1)); echo "$name: no totals"
    fi
}

if [ -z "$only" ]; then
    run "threads" 1500 "$build/tests" --wasp="$build/wasp" --mpiexec="$mpiexec" --python="$python" \
        ${WASP_SAMPLES:+"--samples=$WASP_SAMPLES"}
    case $build in
    *-release | *-release/*) run "Python tools" 600 "$python" test/python/run.py "$build/wasp" "$mpiexec" ;;
    esac
fi
# In virtual time; not those who look at the real one, or poll until it has passed. All ranks take turns in one thread there,
# and change stacks, which the thread sanitizer can't follow.
case $build in *-tsan) virtual='' ;; *) virtual=yes ;; esac
if [ -z "$only" ] && [ "$virtual" ] && "$build/tests" --ranks=sim --gtest_filter=NoSuch > /dev/null 2>&1; then
    run "virtual time" 300 "$build/tests" --ranks=sim --gtest_filter="-RanksClocks.TheLateAreNamed:\
RanksClocks.WhoGetsOnIsNotLate:RanksHeartbeat.*:RanksWindow.OthersGetOnWhileTheOwnerComputesAndPolls"
fi
export ASAN_OPTIONS=detect_leaks=0  # of MPI's plug-ins
for ranks in "$@"; do
    [ "$ranks" = 0 ] || run "$ranks MPI ranks" 600 "$mpiexec" -n "$ranks" "$build/tests" --ranks=mpi
done
two_nodes=test/two_nodes/on_two_nodes.sh
if [ "$*" != 0 ] && [ -z "$only" ]; then
    case $("$mpiexec" --version 2>&1) in
    *HYDRA*)
        seam='2 4'
        # MPICH takes the halves of the ranks for nodes: the same ways between them, but no network. Its waiting ranks
        # take the cores from slow ones: with the address sanitizer that is minutes, for what two real nodes do in one.
        case $build in
        *-asan) $two_nodes --possible && as_if='' || as_if=yes ;;
        *) as_if=yes ;;
        esac
        [ -z "$as_if" ] || run "4 MPI ranks as if on two nodes" 600 env MPIR_CVAR_NUM_CLIQUES=2 \
            "$mpiexec" -n 4 "$build/tests" --ranks=mpi ;;
    *)
        seam=''
        echo "== MPI ranks as if, and on two nodes: left out but for whole runs; only MPICH is quick enough there (docs/TUNING.md)" ;;
    esac
    if $two_nodes --possible; then
        for ranks in $seam; do
            run "$ranks MPI ranks on two nodes" 600 $two_nodes "$mpiexec" $ranks "$build/tests" --ranks=mpi
        done
        echo "== runs on two nodes come to their end"
        if test/two_nodes/ends.sh "$mpiexec" "$build/wasp" "${WASP_ENDS:-6}"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    else
        echo "== two nodes: left out; they need root, network namespaces and iproute2"
    fi
fi
rm -f "$log.part"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
