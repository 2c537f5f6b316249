#!/bin/sh
# regularize.sh - recurrent dropout, BPE-dropout, both directions: each changes
# the model, with the same bytes for any number of threads and after an interruption.
set -eu
. tests/cli/tiny_model.inc
train() { # RUN ARGUMENT...
    run=$1
    shift
    train_begun "$run" '"embedding": 12, "hidden": 12' '"max_updates": 18, "valid_every": 9' \
        --quiet "$@"
}
# check NAME ARGUMENT...
check() {
    name=$1
    shift
    train "$name" --threads 1 "$@"
    train "$name-again" --threads 2 "$@" --max-updates 7
    train "$name-again" --threads 3 "$@" --max-updates 18 --resume
    same "$name: other threads, interrupted" "$TMP/$name/last.safetensors" \
        "$TMP/$name-again/last.safetensors"
    if cmp -s "$TMP/plain/last.safetensors" "$TMP/$name/last.safetensors"; then
        fail "$name changes nothing"
    fi
}
# refuses MESSAGE ARGUMENT...
refuses() {
    message=$1
    shift
    expect 2 "$attn" train --config "$TMP/begun.json" --run "$TMP/refused" "$@"
    says "$message"
}

train plain --threads 1

# ---- recurrent dropout -----------------------------------------------------------------------------------

check state --set model.dropout_state=0.3
check lstm_state --set model.dropout_state=0.3 --set model.cell=lstm --set model.decoder.style=luong
refuses "model.dropout_state" --set model.dropout_state=1

# ---- BPE-dropout -----------------------------------------------------------------------------------------

check source_merges --set train.bpe_dropout_source=0.2
check target_merges --set train.bpe_dropout_target=0.2
if cmp -s "$TMP/source_merges/last.safetensors" "$TMP/target_merges/last.safetensors"; then
    fail "sides are one"
fi
refuses "train.bpe_dropout_target passes over merges, but words have none" \
    --set train.bpe_dropout_target=0.1 --set text.tokenizer=word

# ---- both directions first -------------------------------------------------------------------------------

check directions --set train.both_directions=1
says "it now covers the first 100 % of the new length" # of --resume --max-updates
refuses "the vocabularies are separate" --set train.both_directions=0.3 --set text.joint=false \
    --set model.tie=target
refuses "of a run that has no end" --set train.both_directions=0.3 --set train.max_updates=0
# The best model comes from after the switch.
tiny_model half --set train.both_directions=0.5 --epochs 4 --set train.valid_every=0
[ "$(grep -c '"best": false' "$TMP/half/train.jsonl")" -ge 1 ] &&
    head -n 1 "$TMP/half/train.jsonl" | grep -q '"best": false' &&
    sed -n 2p "$TMP/half/train.jsonl" | grep -q '"best": true' || fail "best: $(cat "$TMP/half/train.jsonl")"
# One model memorizes both directions.
tiny_model both --set train.both_directions=1 --epochs 160
cut -f 1 "$TMP/tiny.tsv" >"$TMP/one"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/two"
right() { # FROM TO: number of lines with this translation
    "$attn" translate -m "$TMP/both/best.safetensors" "$1" | paste -d '\t' - "$2" |
        awk -F '\t' '$1 == $2' | wc -l
}
there=$(right "$TMP/one" "$TMP/two")
back=$(right "$TMP/two" "$TMP/one")
if [ "$there" -lt 32 ] || [ "$back" -lt 32 ]; then fail "of 64 sentences $there right there, $back back"; fi
