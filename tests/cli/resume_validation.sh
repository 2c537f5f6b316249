#!/bin/sh
# resume_validation.sh - a signal during a long validation ends it, and going on makes up for it: same bytes.
set -eu
. tests/cli/tiny_model.inc

for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    cat data/train.tsv
done | head -n 40000 >"$TMP/valid.tsv"
head -n 200 data/train.tsv >"$TMP/train.tsv"
start() { # RUN, ARGUMENT...: in place of the shell
    run=$1
    shift
    exec "$attn" train --run "$TMP/$run" --set data.train="$TMP/train.tsv" \
        --set data.valid="$TMP/valid.tsv" --set text.bpe_merges=50 --set model.embedding=16 \
        --set model.hidden=16 --set train.valid_limit=12000 --set train.max_updates=6 \
        --set train.valid_every=3 --set train.warmup=0 --set train.samples=0 --threads 2 "$@" 2>"$TMP/err"
}
(start whole)
(export ATTN_MT_PROGRESS=0.01 && start stopped) &
trainer=$!
while kill -0 $trainer 2>/dev/null && ! grep -q '^validating' "$TMP/err"; do sleep 0.05; done
kill -TERM $trainer || fail "it was over before a validation was seen: $(cat "$TMP/err")"
status=0
wait $trainer || status=$?
[ $status -eq 143 ] || fail "exit status $status: $(cat "$TMP/err")"
(start stopped --resume)
for file in best last; do
    same "stopped in a validation: $file" "$TMP/whole/$file.safetensors" "$TMP/stopped/$file.safetensors"
done
[ "$(wc -l <"$TMP/stopped/train.jsonl")" -eq "$(wc -l <"$TMP/whole/train.jsonl")" ] ||
    fail "other validations"
