#!/bin/sh
# profile.sh - `attn-mt train --profile`: the table adds up and has every phase, the model is the same with
# and without it, and a run that is stopped has a table too.
set -eu
TMP=${TMP:?an empty folder}
. tests/cli/tiny_model.inc

phases='data
encoder
attention
decoder
output layer and loss
output layer, backward
decoder, backward
attention, backward
encoder, backward
weight gradients
optimizer, reduce
optimizer, update
optimizer, pack
validation
saving
other
waiting
all'

# The rows of the table in $TMP/out as "name|seconds|share|GFLOP/s or nothing".
rows() {
    sed -n 's|^  \([a-z][a-z, ]*[a-z]\)  *\([0-9][0-9.]*\)  *\([0-9.]*\) %  *\([0-9.]*\)$|\1\|\2\|\3\|\4|p
        s|^  \([a-z][a-z, ]*[a-z]\)  *\([0-9][0-9.]*\)  *\([0-9.]*\) %$|\1\|\2\|\3\||p' "$1"
}

# check_table FILE THREADS [long]: every row is there in this order, the sums are right to rounding, products
# were counted, and in a long run every part of an update took time.
check_table() {
    rows "$1" >"$TMP/rows"
    cut -d '|' -f 1 "$TMP/rows" >"$TMP/names"
    echo "$phases" | diff - "$TMP/names" || fail "rows of the table: $(cat "$1")"
    wall=$(sed -n "s/^profile  $2 threads\{0,1\}, \([0-9.]*\) seconds each;.*/\1/p" "$1")
    [ -n "$wall" ] || fail "no heading for $2 threads: $(cat "$1")"
    awk -F '|' -v threads="$2" -v wall="$wall" -v long="${3:-}" '
        function apart(a, b, by) { return a - b > by || b - a > by }
        $1 == "all" { all = $2; whole = $3; next }
        { rows++; seconds += $2; share += $3 }
        $1 == "weight gradients" && $4 == "" { print "no GFLOP/s"; bad = 1 }
        long != "" && $1 ~ /^(encoder|attention|decoder|output|weight|optimizer)/ && $2 <= 0 {
            print "nothing in " $1; bad = 1
        }
        END {
            if (apart(seconds, all, 0.0005 * (rows + 1))) { print "seconds: " seconds ", not " all; bad = 1 }
            if (apart(all, threads * wall, 0.0005 * (threads + 1))) {
                print "all: " all ", not " threads " x " wall; bad = 1
            }
            if (apart(share, 100, 0.05 * rows) || whole != "100.0") {
                print "shares: " share ", " whole; bad = 1
            }
            exit bad
        }' "$TMP/rows" || fail "the table does not add up: $(cat "$1")"
}

tiny_model plain --set train.epochs=20
for threads in 1 2 3; do
    expect 0 "$attn" train --config "$TMP/tiny.json" --set train.epochs=20 \
        --run "$TMP/profiled" --overwrite --threads $threads --profile
    check_table "$TMP/err" $threads long
    for file in best last; do
        cmp "$TMP/plain/$file.safetensors" "$TMP/profiled/$file.safetensors" ||
            fail "--profile changes $file.safetensors"
    done
done
grep -q profile "$TMP/out" && fail "the table is on standard output"
expect 0 "$attn" train --config "$TMP/tiny.json" --set train.epochs=1 --run "$TMP/silent" --overwrite
grep -q '^profile' "$TMP/err" && fail "a table that nobody asked for"

# Other models have the same phases.
transformer="model.embedding=64 model.encoder.style=self_attention model.decoder.style=transformer
    model.attention=scaled_dot"
luong="model.encoder.style=conv model.decoder.style=luong model.attention=general model.decoder.readout=linear
    model.tie=none"
for model in "$transformer" "$luong"; do
    # shellcheck disable=SC2046,SC2086  # the arguments are words
    expect 0 "$attn" train --config "$TMP/tiny.json" --set train.epochs=4 --run "$TMP/other" --overwrite \
        --threads 2 --profile $(printf -- '--set %s ' $model)
    check_table "$TMP/err" 2
done

# Stopped by a signal: once it has saved a validation it is surely in the middle of its endless training.
"$attn" train --config "$TMP/tiny.json" --set train.schedule=constant --set train.epochs=0 \
    --set train.valid_every=2 --run "$TMP/stopped" --threads 2 --profile >"$TMP/out" 2>"$TMP/err" </dev/null &
trainer=$!
while kill -0 $trainer 2>/dev/null && [ ! -f "$TMP/stopped/last.state.safetensors" ]; do sleep 0.05; done
kill -s INT $trainer
status=0
wait $trainer || status=$?
[ $status -eq 130 ] || fail "exit code $status after SIGINT: $(cat "$TMP/err")"
says 'everything is saved'
check_table "$TMP/err" 2
