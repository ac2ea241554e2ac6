#!/bin/sh
# The chaos test with a /dev/shm of its own where that can be made (as root): what is left there is then ours.
# usage: run.sh PYTHON OPTIONS-OF-CHAOS.PY…
python=$1; shift
own='mount -t tmpfs -o mode=1777 tmpfs /dev/shm'
if unshare -m sh -c "$own" 2>/dev/null; then
    exec unshare -m sh -c "$own"' && exec "$@"' - "$python" test/chaos/chaos.py --own-shm "$@"
fi
exec "$python" test/chaos/chaos.py "$@"
