# mpi_hosts.sh - two machines, simulated by network namespaces: if their link is cut, the ranks of
# both end in time and name the ranks of the other machine; the remaining ranks resume.
# MPI_CUTS: number of cuts.
# slow
# not sanitized: the program is linked here
# alone
set -eu
. tests/cli/mpi.inc
a=attn-mt-a$$ b=attn-mt-b$$ # other runs of this script may be under way
tidy() {
    for host in $a $b; do ip netns delete $host; done 2>/dev/null || true
}
case $mpis in *openmpi*) ;; *) no="Open MPI" ;; esac
have ip && have unshare || no="ip or unshare"
[ -n "${no-}" ] || ip netns add $a 2>/dev/null || no="permission to make network namespaces"
[ -z "${no-}" ] || {
    echo "skipped: no $no"
    exit 77
}
trap tidy EXIT
trap 'exit 130' INT TERM
ip netns add $b
ip link add name wire netns $a type veth peer name wire netns $b
ip -n $a address add 10.199.7.1/24 dev wire
ip -n $b address add 10.199.7.2/24 dev wire
for host in $a $b; do
    ip -n $host link set lo up
    ip -n $host link set wire up
done

# on HOST COMMAND...: with that host's name and network
cat >"$TMP/on" <<'END'
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && exec "$@"' "$host" "$@"
END
# What mpirun starts its daemon on the other machine with: agent ADDRESS COMMAND
cat >"$TMP/agent" <<END
#!/bin/sh
shift
exec "$TMP/on" $b sh -c "\$*"
END
chmod +x "$TMP/on" "$TMP/agent"

# A zombie process has no command line.
is_running() { [ -n "$(tr -d '\0' 2>/dev/null <"/proc/$1/cmdline")" ]; } 2>/dev/null

for cut in $(seq "${MPI_CUTS:-2}"); do
    run=cut$cut
    # shellcheck disable=SC2086,SC2154  # the options are words; $run_openmpi is set there
    "$TMP/on" $a "$run_openmpi" --mca plm_rsh_agent "$TMP/agent" --mca btl tcp,self \
        --mca btl_tcp_if_include wire --mca oob_tcp_if_include wire --host 10.199.7.1:2,10.199.7.2:2 -n 4 \
        "$TMP/attn-mt-openmpi" train --run "$TMP/$run" $options $length 100000 >"$TMP/err" 2>&1 </dev/null &
    job=$!
    saved $run
    sleep 0.$cut
    processes=$(for rank in 0 1 2 3; do rank_process $run $rank; done)
    [ "$(echo "$processes" | wc -l)" -eq 4 ] || fail "there are ranks missing"
    ip -n $a link set wire down
    begin=$(date +%s)
    for process in $processes; do
        while is_running "$process"; do
            [ $(($(date +%s) - begin)) -le $((timeout + 60)) ] || fail "process $process is still there"
            sleep 0.2
        done
    done
    took=$(($(date +%s) - begin))
    kill $job 2>/dev/null || true # mpirun itself may wait for the other machine for minutes
    { wait $job || true; } 2>/dev/null
    echo "cut $cut: all ranks ended within $took seconds"
    grep -q "rank [01] ($a): no message arrived from rank 2 on $b .*rank 3 on $b" "$TMP/err" ||
        fail "$a does not name the ranks of $b: $(cat "$TMP/err")"
    ip -n $a link set wire up
    goes_on openmpi 3 $run
done
