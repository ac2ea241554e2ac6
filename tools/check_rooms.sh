#!/bin/sh
# Fail if a room includes a room that it may not know (docs/ARCHITECTURE.md), or if a library's header is
# included outside the place that owns it.
set -u
bad=0
allow() {  # allow ROOM ALLOWED_ROOM…
    room=$1; shift; known=" $room $* "
    for line in $(grep -rnoE '#include "[a-z0-9_]+/' "include/$room" "src/$room" 2>/dev/null | tr -d ' '); do
        used=${line##*\"}; used=${used%/}
        case $known in *" $used "*) ;; *) echo "$line: $room may not include $used"; bad=1 ;; esac
    done
}
own() {  # own HEADER_PATTERN PLACE_PATTERN
    for file in $(grep -rlE "#include <($1)>" include src | grep -vE "$2"); do
        echo "$file: <$1> belongs in $2"; bad=1
    done
}
allow base
allow h5        base
allow tensor    base
allow nn        base tensor
allow cluster   base tensor
allow data      base h5 tensor cluster
allow protocols base tensor cluster
allow report    base h5 cluster
allow app       base h5 tensor nn data cluster protocols report
own 'mpi.h'              '^src/cluster/mpi_[a-z_]+\.[ch]pp$'
own 'simgrid/.*|xbt/.*'  '^src/cluster/sim_[a-z_]+\.[ch]pp$'
own 'cblas.h|omp.h|dnnl.*|oneapi/.*' '^(src|include)/tensor/'
own 'hdf5.h'             '^src/h5/'
own 'CLI/.*|toml.*'      '^src/app/'
for file in $(grep -rlE '#pragma omp' include src | grep -vE '^(src|include)/tensor/'); do
    echo "$file: OpenMP belongs in tensor/ (see tensor/parallel.hpp)"; bad=1
done
[ $bad = 0 ] && echo "rooms: ok"
exit $bad
