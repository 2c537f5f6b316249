#!/bin/sh
# fine_tune.sh - train --init with train.interpolate: the curve of means, what it keeps in the run directory,
# resuming, several threads, and what is refused.
set -eu
. tests/cli/tiny_model.inc

head -n 200 data/train.tsv >"$TMP/old.tsv"
sed -n '1p;201,320p' data/train.tsv >"$TMP/new.tsv"
tail -n 20 data/valid.tsv >"$TMP/valid.tsv"
tail -n 40 data/valid.tsv | head -n 20 >"$TMP/general.tsv"

train() { # RUN, ARGUMENT...: a tiny model
    run=$1
    shift
    expect 0 "$attn" train --languages en-de --run "$TMP/$run" --valid "$TMP/valid.tsv" \
        --set model.size=manual --set train.samples=0 --set train.average=0.01 --set train.warmup=2 \
        --schedule constant --stop-on loss --set train.batch_size=16 "$@"
}

train old "$TMP/old.tsv" --hidden 16 --set model.embedding=16 --set text.bpe_merges=200 --epochs 3
init=$TMP/old/best.safetensors
tune() { # RUN, ARGUMENT...
    run=$1
    shift
    train "$run" "$TMP/new.tsv" --init "$init" --set train.interpolate=true --general "$TMP/general.tsv" "$@"
}

tune once --epochs 4 --threads 1
cp "$TMP/err" "$TMP/once.err"
for share in 0.00 0.25 0.50 0.70 1.00; do
    grep -q "share $share  BLEU .* loss .* general BLEU .*, same " "$TMP/once.err" ||
        fail "no share $share: $(cat "$TMP/once.err")"
done
grep -q 'share 0.00 .* same 100' "$TMP/once.err" || fail "share 0 is not the model before"
[ "$(grep -c -e '<- best.safetensors' "$TMP/once.err")" -eq 1 ] || fail "no choice: $(cat "$TMP/once.err")"
says 'general  BLEU of data.general is '
share=$(sed -n 's/.*share \([0-9.]*\) .*<- best.*/\1/p' "$TMP/once.err")
expect 0 "$attn" inspect "$TMP/once/best.safetensors"
awk -v share="$share" '$1 == "fine_tuned_share" { found = $2 == share } END { exit !(found && share > 0) }' \
    "$TMP/out" ||
    fail "its share $share is not in the file: $(cat "$TMP/out")"

# The ends of the line are the two models.
weights() { # MODEL: log p of pairs
    "$attn" score -q --model "$1" "$TMP/general.tsv"
}
weights "$init" >"$TMP/a"
weights "$TMP/once/init.safetensors" >"$TMP/b"
same "init.safetensors is another model" "$TMP/a" "$TMP/b"

# Interrupted by an end after two epochs, with more threads: the same files.
tune twice --epochs 2 --threads 2
tune twice --epochs 4 --threads 2 --resume
for file in best last tuned init; do
    cmp "$TMP/once/$file.safetensors" "$TMP/twice/$file.safetensors" || fail "$file.safetensors differs"
done
# A finished run makes the same mean again, also if it was stopped before it was written.
cp "$TMP/once/tuned.safetensors" "$TMP/twice/best.safetensors"
tune twice --epochs 4 --resume
cmp "$TMP/once/best.safetensors" "$TMP/twice/best.safetensors" || fail "a finished run has another mean"

# With model.size=auto it is the default of --init, and without it of nothing.
expect 0 "$attn" train "$TMP/new.tsv" --languages en-de --init "$init" --dump-config
grep -q '"interpolate": true' "$TMP/out" || fail "auto: no mean with --init"
expect 0 "$attn" train "$TMP/new.tsv" --languages en-de --dump-config
grep -q '"interpolate": false' "$TMP/out" || fail "auto: a mean without --init"

expect 2 "$attn" train "$TMP/new.tsv" --languages en-de --run "$TMP/none" --set train.interpolate=true \
    --hidden 8 --max-updates 1
says 'train.interpolate needs a model to start from'
