# with_mpi.sh - `make MPI=1` builds another program in another folder, with MPI's compiler; other builds do
# not use MPI; scripts/train.sbatch queues stopped jobs again.
# alone
set -eu
fail() {
    echo "failed: $*"
    exit 1
}
cat >"$TMP/mpicc" <<'END'
#!/bin/sh
exec cc "$@"
END
chmod +x "$TMP/mpicc"
make -n BUILD="$TMP/none" all >"$TMP/log" 2>&1 || fail "make: $(cat "$TMP/log")"
! grep -q 'mpi' "$TMP/log" || fail "MPI without being asked for: $(grep mpi "$TMP/log" | head -n 3)"
unset BUILD ATTN_MT # of the program that is tested
make -n MPI=1 MPICC="$TMP/mpicc" all >"$TMP/log" 2>&1 || fail "make MPI=1: $(cat "$TMP/log")"
grep -q 'build-mpi/obj/distributed/comm_mpi.o' "$TMP/log" || fail "comm_mpi.c is left out"
! grep -q 'comm_self' "$TMP/log" || fail "comm_self.c is in it"
grep -q -e "$TMP/mpicc .*-o build-mpi/attn-mt " "$TMP/log" || fail "not linked by MPI's compiler"
! make MPI=1 MPICC=no-such-compiler BUILD="$TMP/none" all >"$TMP/log" 2>&1 ||
    fail "built without MPI's compiler"
grep -q 'no-such-compiler' "$TMP/log" || fail "the message: $(cat "$TMP/log")"

# Scripts simulate a cluster.
mkdir "$TMP/bin"
for name in srun scontrol; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' $name "$TMP" >"$TMP/bin/$name"
    chmod +x "$TMP/bin/$name"
done
# shellcheck disable=SC2016  # for that script
echo 'exit "$CODE"' >>"$TMP/bin/srun"
batch() { # CODE OF SRUN: leaves $status
    rm -f "$TMP/calls"
    status=0
    PATH=$TMP/bin:$PATH CODE=$1 SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=4 \
        bash scripts/train.sbatch --config my.json --run "$TMP/run" || status=$?
}
for code in 143 138 6; do
    batch $code
    [ $status -eq 0 ] || fail "exit code $status after $code"
    grep -q 'scontrol requeue 7' "$TMP/calls" || fail "$code is not queued again"
done
for code in 0 1 2 4; do
    batch $code
    [ $status -eq $code ] || fail "exit code $status after $code"
    ! grep -q scontrol "$TMP/calls" || fail "$code is queued again"
done
grep -q -e "--output=$TMP/run/log/%j.%t.log build-mpi/attn-mt train --config my.json --run $TMP/run *$" \
    "$TMP/calls" || fail "srun is called so: $(cat "$TMP/calls")"
touch "$TMP/run/last.state.safetensors"
batch 0
grep -q -e "--resume" "$TMP/calls" || fail "not resumed: $(cat "$TMP/calls")"
