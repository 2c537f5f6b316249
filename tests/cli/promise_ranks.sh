# promise_ranks.sh - training on several machines: the same bytes for any number of ranks and threads, also
# after a resume with another number of ranks. Each error is reported once.
# not sanitized: the program is linked here
# alone
set -eu
. tests/cli/mpi.inc

! ldd "$attn" | grep -i mpi || fail "the ordinary program is linked with MPI"

# A launcher started more processes than the communicator has: refused before the run directory is made.
for variable in SLURM_NTASKS PMI_SIZE OMPI_COMM_WORLD_SIZE; do
    expect 2 env $variable=3 "$attn" train --config "$TMP/rnn.json" --run "$TMP/never"
    says 'make MPI=1'
    says 'srun --mpi=pmix'
done
for library in $mpis; do
    expect 2 env SLURM_NTASKS=3 "$TMP/attn-mt-$library" train --config "$TMP/rnn.json" --run "$TMP/never"
    says 'srun --mpi=pmix'
done
[ ! -e "$TMP/never" ] || fail "a refused run leaves a directory"
expect 0 env SLURM_NTASKS=1 "$attn" train --check-comm
grep -q '^sum of' "$TMP/out" || fail "--check-comm prints $(cat "$TMP/out")"

transformer="model.embedding=96 model.hidden=96 model.encoder.style=self_attention
    model.decoder.style=transformer model.attention=scaled_dot"
large="train.batch_size=130 train.accumulate=2 train.valid_every=3" # three or four shards a batch
small="train.epochs=2 train.accumulate=1" # one shard, so that all ranks but one have none
others="train.bpe_dropout_source=0.1 train.both_directions=0.5 train.stop_on=chrf"
train="train --config $TMP/rnn.json --quiet"
set_each() { printf -- '--set %s ' "$@"; }
# shellcheck disable=SC2046,SC2086  # the arguments are words
{
    "$attn" $train --run "$TMP/rnn" --threads 1
    "$attn" $train --run "$TMP/transformer" --threads 2 $(set_each $transformer)
    "$attn" $train --run "$TMP/others" --threads 2 $(set_each $others)
    "$attn" $train --run "$TMP/large" --threads 2 $(set_each $large)
    "$attn" $train --run "$TMP/small" --threads 2 $(set_each $small)
    for library in $mpis; do
        expect 0 ranks "$library" 3 train --check-comm --threads 2
        [ "$(grep -c '^ *[0-2]  *2 ' "$TMP/out")" -eq 3 ] || fail "--check-comm: $(cat "$TMP/out")"

        for count in 1 2 3 4; do
            ranks "$library" $count $train --run "$TMP/$library.$count" --threads 1
            same_run "$library, $count ranks" rnn "$library.$count"
        done
        ranks "$library" 7 $train --run "$TMP/$library.7" --threads 1
        same_run "$library, more ranks than shards" rnn "$library.7"
        ranks "$library" 2 $train --run "$TMP/$library.2x2" --threads 2
        same_run "$library, 2 ranks of 2 threads" rnn "$library.2x2"
        for count in 2 3; do
            ranks "$library" $count $train --run "$TMP/$library.l$count" --threads 1 $(set_each $large)
            same_run "$library, large batches, $count ranks" large "$library.l$count"
        done
        ranks "$library" 2 $train --run "$TMP/$library.small" --threads 1 $(set_each $small)
        same_run "$library, one shard" small "$library.small"
        for shape in 1x1 2x1 3x1 4x1 2x2; do
            ranks "$library" ${shape%x*} $train --run "$TMP/$library.t$shape" --threads ${shape#*x} \
                $(set_each $transformer)
            same_run "$library, a Transformer, $shape" transformer "$library.t$shape"
        done
        ranks "$library" 3 $train --run "$TMP/$library.o" --threads 1 $(set_each $others)
        same_run "$library, dropout of merges, two directions" others "$library.o"

        # Resumes with more ranks and with fewer.
        go_on=$TMP/$library.r
        ranks "$library" 2 $train --run "$go_on" --threads 1 --max-updates 7
        ranks "$library" 3 $train --run "$go_on" --threads 1 --max-updates 14 --resume
        "$attn" $train --run "$go_on" --threads 2 --max-updates 21 --resume
        ranks "$library" 4 $train --run "$go_on" --threads 1 --resume --max-updates 0
        for file in best last; do
            cmp "$TMP/rnn/$file.safetensors" "$go_on/$file.safetensors" || fail "$library: resumed, $file"
        done
    done
}

# An error is reported once.
for library in $mpis; do
    expect 2 ranks "$library" 2 train --config "$TMP/rnn.json" --run "$TMP/rnn"
    [ "$(grep -c 'already holds a trained model' "$TMP/err")" -eq 1 ] || fail "not once: $(cat "$TMP/err")"
    expect 2 ranks "$library" 2 train --config "$TMP/rnn.json" --run "$TMP/new" --set model.heads=5 \
        --set model.encoder.style=self_attention
    [ "$(grep -c 'does not divide' "$TMP/err")" -eq 1 ] || fail "not once: $(cat "$TMP/err")"
    expect 4 ranks "$library" 2 train --config "$TMP/rnn.json" --run "$TMP/diverged" --overwrite \
        --set train.learning_rate=1e9 --set train.warmup=0 --set train.clip=0
    [ "$(grep -c 'lower train.learning_rate' "$TMP/err")" -eq 1 ] || fail "not once: $(cat "$TMP/err")"
done

# The commands of the documents, on this training.
for page in machines compared; do
    sed -nE 's/ +# .*$//; s/^    mpirun -n 2 build-mpi\/attn-mt (.*)$/\1/p' docs/$page.md |
        sed "s|configs/demo.json|$TMP/rnn.json|; s|--run |--run $TMP/$page-|"
done >"$TMP/commands"
[ "$(wc -l <"$TMP/commands")" -ge 3 ] || fail "commands of the documents: $(cat "$TMP/commands")"
while IFS= read -r command; do
    # shellcheck disable=SC2086  # words
    expect 0 ranks "$library" 2 $command
done <"$TMP/commands"

# The time limit is reached while rank 0 saves: all ranks end there. A wrapper (--wrap) sets the clock, so
# that each save takes an hour.
cat >"$TMP/late.c" <<'END'
#include "base/log.h"
#include "train/checkpoint.h"
static double late;
double __real_clock_seconds(void);
double __wrap_clock_seconds(void);
double __wrap_clock_seconds(void) { return __real_clock_seconds() + late; }
Status __real_checkpoint_save_model(const Checkpoint *checkpoint, const char *name);
Status __wrap_checkpoint_save_model(const Checkpoint *checkpoint, const char *name);
Status __wrap_checkpoint_save_model(const Checkpoint *checkpoint, const char *name) {
    late += 3600;
    return __real_checkpoint_save_model(checkpoint, name);
}
END
library=${mpis# }
library=${library%% *}
link_with "$library" "$TMP/attn-mt-late" "$TMP/late.c" -Wl,--wrap=clock_seconds \
    -Wl,--wrap=checkpoint_save_model >"$TMP/out" 2>&1 || fail "late: $(cat "$TMP/out")"
eval "run_late=\$run_$library"
expect 0 timeout 300 "$run_late" -n 2 "$TMP/attn-mt-late" train --config "$TMP/rnn.json" --run "$TMP/late" \
    --threads 1 --epochs 0 --set train.max_minutes=60
says 'done in'
[ "$(grep -c update "$TMP/late/train.jsonl")" -eq 1 ] || fail "not over: $(cat "$TMP/err")"
