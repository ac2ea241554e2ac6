#!/bin/sh
# Fuzz the readers of data files: the corpus of earlier runs, and seeds of every kind that is read.
# usage: [FUZZ_SEED=N FUZZ_RUNS=N] run.sh FUZZER PYTHON SECONDS     the corpus, and what it finds: in FUZZER's folder
set -eu
fuzzer=$1 python=$2 seconds=$3
folder=$(dirname "$fuzzer")
here=$(dirname "$0")
rm -rf "$folder/seeds"
mkdir -p "$folder/seeds" "$folder/corpus"
"$python" "$here/make_seeds.py" "$folder/seeds"
# Limits for a build with sanitizers, which is some ten times slower and takes three times the memory. libhdf5 keeps what it
# has taken (no look for leaks), and asks for more than there is where sizes are damaged, which malloc() refuses; an eighth of
# what it gets is taken at once by the sanitizer.
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0:max_allocation_size_mb=2000
"$fuzzer" -seed="${FUZZ_SEED:-0}" -runs="${FUZZ_RUNS:--1}" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1500 -malloc_limit_mb=1000000 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix="$folder/finding-" "$folder/corpus" "$folder/seeds" 2> "$folder/log" || {
    tail -n 60 "$folder/log"
    exit 1
}
grep -E '^(Done|stat::number_of_executed|stat::peak_rss)' "$folder/log"
