#!/bin/sh
# average.sh - attn-mt average: the mean of the weights of several models.
set -eu
. tests/cli/tiny_model.inc
model() { # NAME ARGUMENT...: a second of training
    tiny_model "$@" --epochs 2
}
scores() { # MODEL: log p of the sentences
    "$attn" score --model "$1" "$TMP/tiny.tsv" --threads 1
}

model a
model b --init "$TMP/a/best.safetensors" --seed 2
average=$TMP/mean.safetensors
expect 0 "$attn" average "$TMP/a/best.safetensors" "$TMP/b/best.safetensors" -o "$average"
says "the mean of 2 models"
says "it has no calibration for translate --confidence"
expect 0 "$attn" translate --model "$average" "$TMP/tiny.tsv"
expect 0 "$attn" inspect "$average"
grep -q 'average_of  *(2 values)' "$TMP/out" || fail "no provenance: $(cat "$TMP/out")"
grep -q 'source_language  *en' "$TMP/out" || fail "no language: $(cat "$TMP/out")"

# File names can be invalid UTF-8 if the file system allows it.
latin1=$TMP/$(printf 'caf\351').safetensors
if cp "$TMP/b/best.safetensors" "$latin1" 2>/dev/null; then
    expect 0 "$attn" average "$TMP/a/best.safetensors" "$latin1" -o "$TMP/named"
    expect 0 "$attn" inspect --json "$latin1"
    iconv -f UTF-8 -t UTF-8 <"$TMP/out" >/dev/null || fail "inspect --json: not UTF-8"
fi

# The mean of a model with itself is the model. The order of the models has no effect.
expect 0 "$attn" average "$TMP/a/best.safetensors" "$TMP/a/best.safetensors" --output "$TMP/self"
scores "$TMP/a/best.safetensors" >"$TMP/score.a"
scores "$TMP/self" >"$TMP/score.self"
same "a model's mean with itself" "$TMP/score.a" "$TMP/score.self"
scores "$average" >"$TMP/score.mean"
if cmp -s "$TMP/score.a" "$TMP/score.mean"; then fail "the mean is the first model"; fi
expect 0 "$attn" average "$TMP/b/best.safetensors" "$TMP/a/best.safetensors" -o "$TMP/swapped"
scores "$TMP/swapped" >"$TMP/score.other"
same "the order of the models" "$TMP/score.mean" "$TMP/score.other"
# Computes one weight of the mean from the bytes of the files.
last() { # MODEL
    tail -c 4 "$1" | od -An -t f4
}
echo "$(last "$TMP/a/best.safetensors") $(last "$TMP/b/best.safetensors") $(last "$average")" |
    awk '{ d = ($1 + $2) / 2 - $3; exit !(d < 1e-6 && d > -1e-6 && $1 != $2) }' || fail "not the mean"

# Models of unrelated trainings: a mean with a warning.
if grep -qF 'little in common' "$TMP/err"; then fail "a warning about models of one training"; fi
model stranger --seed 2
expect 0 "$attn" average "$TMP/a/best.safetensors" "$TMP/stranger/best.safetensors" -o "$TMP/strange"
says "are unrelated"

model other --set model.hidden=32
expect 3 "$attn" average "$TMP/a/best.safetensors" "$TMP/other/best.safetensors" -o "$TMP/none"
says "differ in configuration or vocabulary"
[ ! -e "$TMP/none" ] || fail "it was written all the same"
model words --set text.bpe_merges=100
expect 3 "$attn" average "$TMP/a/best.safetensors" "$TMP/words/best.safetensors" -o "$TMP/none"
says "differ in configuration or vocabulary"
model dropped --init "$TMP/a/best.safetensors" --set model.dropout_output=0.1
expect 0 "$attn" average "$TMP/a/best.safetensors" "$TMP/dropped/best.safetensors" -o "$TMP/soup"
expect 2 "$attn" average "$TMP/a/best.safetensors" -o "$TMP/none"
says "needs at least two models, 1 given"
expect 2 "$attn" average "$TMP/a/best.safetensors" "$TMP/b/best.safetensors"
says "no --output"
expect 2 "$attn" average "$TMP/a/best.safetensors" "$TMP/b/best.safetensors" -o ''
says "the name of a file to write is empty"
expect 3 "$attn" average "$TMP/a/best.safetensors" "$TMP/tiny.tsv" -o "$TMP/none"
says "not a model file"
