# promise_lost_rank.sh - a lost machine costs only the unsaved work. If a rank is killed or stopped, the other
# ranks name it and end in time. Signals to the launcher or to a rank save and stop. A resume with another
# number of ranks ends with the bytes of an uninterrupted run. Different weights or data are detected.
# MPI_STOPS and MPI_KILLS: how many of each, with each MPI library.
# slow
# not sanitized: the program is linked here
# alone
set -eu
. tests/cli/mpi.inc
[ -d /proc/self ] || {
    echo "skipped: no /proc to find processes in"
    exit 77
}

# start LIBRARY RUN: starts three ranks in the background and waits for the first checkpoint
start() {
    # shellcheck disable=SC2086  # the options are words
    ranks "$1" 3 train --run "$TMP/$2" $options $length 100000 >"$TMP/err" 2>&1 &
    job=$!
    saved "$2"
    sleep "0.$(($(date +%N | cut -c 1-3 | sed 's/^0*//;s/^$/0/') % 10))"
}

# ends RUN CODES: all ranks end with one of these exit codes within the timeout and a minute
ends() {
    begin=$(date +%s)
    status=0
    wait "$job" || status=$?
    took=$(($(date +%s) - begin))
    [ $took -le $((timeout + 60)) ] || fail "$1: ended after $took seconds"
    case " $2 " in *" $status "*) ;; *) fail "$1: exit code $status: $(cat "$TMP/err")" ;; esac
    for left in 0 1 2; do
        [ -z "$(rank_process "$1" $left)" ] || fail "$1: rank $left is still there"
    done
}

for library in $mpis; do
    for fault in $(seq "${MPI_STOPS:-2}"); do
        run=$library.stopped$fault rank=$((fault % 3))
        start "$library" "$run"
        kill -STOP "$(rank_process "$run" $rank)"
        ends "$run" 6
        says "rank $rank on $(hostname) for"
        goes_on "$library" 2 "$run"
        echo "$library: rank $rank stopped, all ended after $took seconds, went on from update ${at:-0}"
    done
    for fault in $(seq "${MPI_KILLS:-2}"); do
        run=$library.killed$fault rank=$(((fault + 1) % 3))
        start "$library" "$run"
        kill -KILL "$(rank_process "$run" $rank)"
        ends "$run" "6 9 137"
        goes_on "$library" 2 "$run"
        echo "$library: rank $rank killed, all ended after $took seconds, went on from update ${at:-0}"
    done

    # A signal to one rank, and to the launcher. After SIGTERM, Open MPI's exit code is 1; MPICH's is
    # sometimes 0 after any signal.
    run=$library.one
    start "$library" "$run"
    kill -TERM "$(rank_process "$run" 1)"
    ends "$run" 143
    says 'everything is saved'
    goes_on "$library" 2 "$run"
    run=$library.all
    start "$library" "$run"
    kill -TERM "$(launcher_process "$library" "$run")"
    ends "$run" "143 1 0"
    goes_on "$library" 2 "$run"
    run=$library.user
    start "$library" "$run"
    kill -USR1 "$(launcher_process "$library" "$run")"
    case $library in mpich) codes="138 0" ;; *) codes=138 ;; esac
    ends "$run" "$codes"
    says 'everything is saved'
    goes_on "$library" 2 "$run"
done

# Different weights: a wrapper (--wrap) around the exchange flips a bit of
# the data of rank 1 in each exchange of weights, from the third one on.
cat >"$TMP/flip.c" <<'END'
#include "distributed/comm.h"
void __real_group_gather(void *block, const size_t *first);
void __wrap_group_gather(void *block, const size_t *first);
void __wrap_group_gather(void *block, const size_t *first) {
    static int calls;
    __real_group_gather(block, first);
    if (first[comm_size()] > 100000 && ++calls >= 3 && comm_rank() == 1) ((char *)block)[4000] ^= 1;
}
END
library=${mpis# }
library=${library%% *}
link_with "$library" "$TMP/attn-mt-flip" "$TMP/flip.c" -Wl,--wrap=group_gather >"$TMP/out" 2>&1 ||
    fail "flip: $(cat "$TMP/out")"
eval "run_flip=\$run_$library"
# shellcheck disable=SC2086  # the options are words
expect 1 ranks flip 2 train --run "$TMP/flip" $options $length 200
says "rank 1 on $(hostname) has other weights in '"
says 'after update 100'

# Different data.
head -n 399 data/train.tsv >"$TMP/other.tsv"
cat >"$TMP/attn-mt-data" <<END
#!/bin/sh
data=$TMP/train.tsv
[ "\${OMPI_COMM_WORLD_RANK-}\${PMI_RANK-}" = 0 ] || data=$TMP/other.tsv
exec "$TMP/attn-mt-$library" "\$@" --set data.train="\$data"
END
chmod +x "$TMP/attn-mt-data"
eval "run_data=\$run_$library"
# shellcheck disable=SC2086  # the options are words
expect 3 ranks data 2 train --run "$TMP/data" $options $length 20
says 'rank 1'
says 'the training data here differ from those of rank 0'
