#!/bin/sh
# clang_tidy.sh FLAG… FILE…: clang-tidy on the files (the arguments that end in .cpp), with the flags.
set -u
flags='' files=''
for word in "$@"; do
    case $word in *.cpp) files="$files $word" ;; *) flags="$flags $word" ;; esac
done
# shellcheck disable=SC2086
clang-tidy --quiet $files -- -std=c++20 -fopenmp -march=x86-64-v2 $flags 2>/dev/null
