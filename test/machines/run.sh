#!/bin/bash
# Programs on a processor that is emulated: an Ivy Bridge (AVX, neither AVX2 nor FMA), as Tianhe-2 has.
# usage: run.sh CXX MPIEXEC WASP [WASP…]      needs qemu-user; ends with the line 'N passed, N failed'
# Each WASP trains there, on one rank and on two, to the loss, digit by digit, that the first comes to here with the
# same kernels; or it was built for a newer processor, and says so.
set -u
cxx=$1 mpiexec=$2 wasp=$3; shift 2
emulator=(qemu-x86_64 -cpu IvyBridge)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

judge() {  # judge WHAT CODE: 0 is good
    if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "passed: $1"
    else failed=$((failed + 1)); echo "FAILED: $1"; tail -n 5 "$folder/log"; fi
}

train() {  # train NAME RANKS COMMAND…: prints the loss
    name=$1 ranks=$2 protocol=serial; shift 2
    [ "$ranks" = 1 ] || protocol=bsp
    "$mpiexec" -n "$ranks" "$@" --data "$folder/data.h5" --model lenet5 --batch 8 --epochs 1 --threads 1 --simd avx \
        --protocol $protocol --lr 0.05 --progress none --out "$folder/$name.h5" > "$folder/log" 2>&1
    grep -o 'final_loss=[^ ]*' "$folder/log"
}

refuses() {  # refuses PROGRAM
    "${emulator[@]}" "$1" --version > /dev/null 2> "$folder/errors"
    [ $? = 2 ] && grep -v ^qemu "$folder/errors" > "$folder/log" && [ "$(wc -l < "$folder/log")" = 1 ] &&
        grep -q '^wasp: error: this build needs .*, which this processor (.*Ivy Bridge.*) lacks: use ' "$folder/log"
    judge "$1: $(cat "$folder/log")" $?
}

"$wasp" data synth --classes 10 --shape 1,28,28 --train 64 --test 16 --seed 1 --out "$folder/data.h5" > /dev/null || exit 1

# What is compiled with instructions that are too new is refused before any of it runs.
# shellcheck disable=SC2086
echo 'int main() { return 0; }' |
    $cxx -std=c++20 -O3 -march=skylake-avx512 -x c++ - src/base/processor.cpp -o "$folder/too-new" || exit 1
refuses "$folder/too-new"

number=0
for program; do
    number=$((number + 1))
    if "${emulator[@]}" "$program" --version > /dev/null 2> "$folder/log"; then
        for ranks in 1 2; do
            here=$(train "here-$number-$ranks" $ranks "$wasp" train)
            there=$(train "there-$number-$ranks" $ranks "${emulator[@]}" "$program" train)
            [ -n "$here" ] && [ "$there" = "$here" ]
            judge "$program, $ranks rank(s): $there, here $here" $?
        done
    else
        refuses "$program"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
