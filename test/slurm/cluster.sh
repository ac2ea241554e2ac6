#!/bin/bash
# Run a command as a user of a real Slurm cluster whose nodes are made of this one machine. Everything is gone when it
# ends, however it ends.
# usage: cluster.sh NODES COMMAND…     the command finds in its environment SLURM_CONF, and CLUSTER, a folder with the
#                                      logs, and with the process ids of the nodes (CLUSTER/node1.pid …)
#        cluster.sh --missing          says what this machine lacks for it; ends with 0 if nothing
# CLUSTER_KIND=namespaces  Each node has its own network, host name, processes, IPC and /dev/shm, and is joined to the
#                          others by virtual cables; killing its process is a power cut.
# CLUSTER_KIND=loopback    Nodes differ by their ports only, and shared memory between them is switched off: taken where
#                          the right to make namespaces is missing.
set -u
export LC_ALL=C.UTF-8
PATH=$PATH:/usr/sbin:/sbin
script=$(readlink -f "$0")

namespaces() { setpriv --pdeathsig KILL unshare -n -m -p -u -i --fork --kill-child --mount-proc "$@"; }

if [[ ${1:-} == --missing ]]; then
    ((EUID == 0)) || { echo "root"; exit 1; }
    for program in slurmctld slurmd sbatch; do
        command -v $program >/dev/null || { echo "the packages slurmctld slurmd slurm-client"; exit 1; }
    done
    exit 0
fi

# ---- outside ----

if [[ -z ${CLUSTER:-} ]]; then
    export CLUSTER CLUSTER_KIND SLURM_CONF
    CLUSTER=$(mktemp -d /tmp/slurm.XXXXXX) || exit 1  # short, as the paths of sockets must be
    SLURM_CONF=$CLUSTER/slurm.conf
    if [[ -z ${CLUSTER_KIND:-} ]]; then
        CLUSTER_KIND=loopback
        command -v ip nsenter >/dev/null && namespaces sh -c 'mount -t tmpfs none /dev/shm &&
            ip link add one type bridge && ip link add two type veth peer name three' 2>/dev/null &&
            CLUSTER_KIND=namespaces
    fi
    if [[ $CLUSTER_KIND == namespaces ]]; then
        namespaces "$script" "$@" <&0 &
        trap 'kill -KILL $! 2>/dev/null; wait; rm -rf "$CLUSTER"' EXIT
    else
        setpriv --pdeathsig TERM "$script" "$@" <&0 &
        trap 'kill $! 2>/dev/null; wait; rm -rf "$CLUSTER"' EXIT
    fi
    trap 'exit 130' INT TERM HUP
    wait $!
    exit $?
fi

# ---- inside ----

wait_for() {  # wait_for SECONDS COMMAND…
    local end=$((SECONDS + $1)); shift
    until "$@"; do ((SECONDS < end)) || return 1; sleep 0.05; done
}
fail() { echo "cluster.sh: $*" >&2; tail -n 5 "$CLUSTER"/*.log >&2; exit 1; }
daemon() {  # daemon NAME COMMAND…: dies with this shell
    local name=$1; shift
    setpriv --pdeathsig KILL setsid "$@" < /dev/null >> "$CLUSTER/$name.log" 2>&1 &
    disown
}

nodes=$1; shift
names=''
for ((i = 1; i <= nodes; i++)); do names+=" node$i"; done
cores=2  # that each node says it has; ranks are bound to them where the machine has as many
binding=affinity; (($(nproc) >= cores)) || binding=none
memory=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1024 / nodes))
base_port=$((20000 + $$ % 20000))  # on loopback: other clusters have others
if [[ $CLUSTER_KIND == namespaces ]]; then head=10.78.0.1 host=head; else head=127.0.0.1 host=$(hostname -s); fi

mkdir "$CLUSTER/state" "$CLUSTER/spool"
cat > "$SLURM_CONF" <<END
ClusterName=virtual
SlurmctldHost=$host($head)
SlurmctldPort=$base_port
SlurmUser=root
AuthType=auth/none
AuthInfo=cred_expire=5  # seconds until a requeued job starts again, too
CredType=cred/none
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool/%n
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/slurmd-%n.pid
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/$binding
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=5,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=20
MessageTimeout=10
KillWait=10
MinJobAge=86400
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
END
echo 'CgroupPlugin=cgroup/v1' > "$CLUSTER/cgroup.conf"  # the one that asks nothing of the machine
printf '127.0.0.1 localhost\n%s head\n' "$head" > "$CLUSTER/hosts"
for ((i = 1; i <= nodes; i++)); do
    if [[ $CLUSTER_KIND == namespaces ]]; then
        where="NodeAddr=10.78.0.$((100 + i)) Port=$((base_port + 1))"
        echo "10.78.0.$((100 + i)) node$i" >> "$CLUSTER/hosts"
    else
        where="NodeAddr=127.0.0.1 Port=$((base_port + i))"
    fi
    echo "NodeName=node$i $where Sockets=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=$memory" >> "$SLURM_CONF"
done

node_main='  # process 1 of a node: reaps what is left over
    hostname "$1" && mount -t sysfs sysfs /sys && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && touch "$CLUSTER/$1.up" &&
    until [ -e "$CLUSTER/$1.cable" ]; do sleep 0.01; done && slurmd -N "$1" &&
    while :; do sleep 1000 & wait; done'
first_process() {  # first_process NAME UNSHARE: keeps the process id of the node that UNSHARE has made
    tr -d " " < "/proc/$2/task/$2/children" > "$CLUSTER/$1.pid" && [[ -s $CLUSTER/$1.pid ]]
}
boot() {  # boot NAME
    namespaces bash -c "$node_main" - "$1" < /dev/null >> "$CLUSTER/$1.log" 2>&1 &
    local maker=$! address=10.78.0.$((100 + ${1#node}))
    disown
    # setpriv and unshare are one process after the other
    wait_for 10 first_process "$1" $maker && wait_for 10 test -e "$CLUSTER/$1.up" &&
        ip link add "$1" type veth peer name eth0 netns "$(< "$CLUSTER/$1.pid")" &&
        ip link set "$1" master cables up &&
        nsenter -t "$(< "$CLUSTER/$1.pid")" -n sh -c \
            "ip addr add $address/24 dev eth0 && ip link set eth0 up && ip link set lo up" &&
        touch "$CLUSTER/$1.cable"
}
no_jobs() { [[ -z $(squeue -h) ]]; }
if [[ $CLUSTER_KIND == namespaces ]]; then
    hostname head && mount --bind "$CLUSTER/hosts" /etc/hosts && ip link set lo up &&
        ip link add cables type bridge && ip addr add $head/24 dev cables && ip link set cables up ||
        fail "no virtual network"
    for name in $names; do boot "$name" || fail "$name does not start"; done
else
    export UCX_TLS=tcp,self  # ranks of different nodes talk over sockets
    for name in $names; do daemon "$name" slurmd -D -N "$name"; echo $! > "$CLUSTER/$name.pid"; done
    trap 'scancel -u root; wait_for 20 no_jobs; kill $(cat "$CLUSTER"/*.pid)' EXIT
    trap 'exit 130' INT TERM HUP
fi
daemon slurmctld slurmctld -D -i
all_idle() { [[ $(sinfo -h -t idle -o %D 2>/dev/null) == "$nodes" ]]; }
wait_for 60 all_idle || { sinfo -N -l >&2; fail "the nodes did not come up"; }
"$@"
