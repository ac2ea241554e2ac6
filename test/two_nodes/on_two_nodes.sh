#!/bin/bash
# Run an MPI program on two nodes, which are made of this one machine: each with its own network, host
# name, processes, IPC and /dev/shm, joined by a virtual cable. Leaves nothing behind.
# usage: on_two_nodes.sh MPIEXEC RANKS COMMAND…        needs root and iproute2; ends with the code of MPIEXEC
#        on_two_nodes.sh --possible                     ends with 0 if that can be done here
set -u
PATH=$PATH:/usr/sbin:/sbin

if [ "${1:-}" = --possible ]; then
    command -v ip nsenter >/dev/null && unshare -n -m -p -u -i --fork --mount-proc \
        sh -c 'mount -t tmpfs none /dev/shm && ip link add eth0 type veth peer name eth1' 2>/dev/null
    exit
fi
mpiexec=$1 ranks=$2; shift 2

folder=$(mktemp -d)
started=''
trap 'kill -KILL $started; rm -rf "$folder"' EXIT
printf '127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n' > "$folder/hosts"

boot() {  # boot NODE: its first process is a shell that reaps what is left over
    unshare -n -m -p -u -i --fork --kill-child --mount-proc bash -c '
        hostname "$1" && mount -t sysfs sysfs /sys && mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
        mount --bind "$2/hosts" /etc/hosts && touch "$2/$1.up" && while :; do sleep 1000 & wait; done
    ' - "$1" "$folder" &
    disown
    started="$started $!"
}
first_process() {  # of the node whose unshare has process id $1
    until [ -n "$(cat "/proc/$1/task/$1/children")" ]; do sleep 0.01; done
    tr -d ' ' < "/proc/$1/task/$1/children"
}
boot node1; node1=$(first_process $!)
boot node2; node2=$(first_process $!)
for node in node1 node2; do
    for ((i = 0; i < 500; i++)); do [ -e "$folder/$node.up" ] && break; sleep 0.01; done
    [ -e "$folder/$node.up" ] || { echo "$node did not start" >&2; exit 1; }
done
ip link add eth0 netns "$node1" type veth peer name eth0 netns "$node2" || exit 1
for i in 1 2; do
    pid=node$i
    nsenter -t "${!pid}" -n sh -c "
        ip addr add 10.77.0.$i/24 dev eth0 && ip link set eth0 up && ip link set lo up" || exit 1
done
carries() { nsenter -t "$1" -n ip -o link show dev eth0 | grep -q 'state UP'; }  # UCX looks, once
for ((i = 0; i < 500; i++)); do carries "$node1" && carries "$node2" && break; sleep 0.01; done

# What mpiexec starts its helpers with, instead of ssh: RANKS are dealt to the nodes in halves.
cat > "$folder/remote" <<END
#!/bin/bash
while [ "\${1#-}" != "\$1" ]; do shift; done
case \$1 in node1) pid=$node1 ;; node2) pid=$node2 ;; esac
shift
exec nsenter -t "\$pid" -a --wd="$PWD" sh -c "\$*"
END
chmod +x "$folder/remote"
# mpiexec itself sees the network of node1, but all processes, and so both nodes.
half=$(((ranks + 1) / 2))
case $("$mpiexec" --version) in
*"Open MPI"* | *OpenRTE*)
    placing=(--mca plm_rsh_agent "$folder/remote" --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0
        --host "node1:$half,node2:$half") ;;
*) placing=(-iface eth0 -launcher ssh -launcher-exec "$folder/remote" -hosts "node1,node2" -ppn "$half") ;;
esac
nsenter -t "$node1" -n "$mpiexec" "${placing[@]}" -n "$ranks" "$@"
