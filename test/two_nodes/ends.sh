#!/bin/sh
# Whether a run between two nodes comes to its end, MPI_Finalize included, every time.
# usage: ends.sh MPIEXEC WASP TIMES      needs what on_two_nodes.sh needs; prints how often it did
mpiexec=$1 wasp=$2 times=$3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$wasp" data synth --classes 4 --shape 1,12,12 --train 200 --test 50 --out "$folder/data.h5" > /dev/null
passed=0 failed=0
for number in $(seq "$times"); do
    set -- bsp 'wasp:period=5' nosync asp
    shift $((number % 4))
    timeout -k 5 60 test/two_nodes/on_two_nodes.sh "$mpiexec" $((2 + number % 3)) "$wasp" train --data "$folder/data.h5" \
        --model mlp --batch 8 --epochs 2 --threads 1 --protocol "$1" --out "$folder/$number.h5" --progress none \
        > "$folder/log" 2>&1
    code=$?
    if [ $code = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "run $number, $1: code $code"; tail -n 5 "$folder/log"
    fi
done
echo "$passed of $times runs ended"
[ $failed = 0 ]
