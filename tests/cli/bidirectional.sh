#!/bin/sh
# bidirectional.sh - a model with a left-to-right and a right-to-left decoder, alone and in ensembles.
set -eu
. tests/cli/tiny_model.inc
both="--set model.decoder.bidirectional=true"
# shellcheck disable=SC2086  # a list of options
tiny_model both $both --set train.epochs=250
tiny_model forth
model=$TMP/both/best.safetensors forth=$TMP/forth/best.safetensors
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/target"

# The memorized sentences, with greedy and beam search, any batches and any threads.
for beam in 1 12; do
    expect 0 "$attn" translate -m "$model" -b $beam "$TMP/source"
    right=$(paste -d '\t' "$TMP/out" "$TMP/target" | awk -F '\t' '$1 == $2' | wc -l | tr -d ' ')
    [ "$right" -ge 58 ] || fail "beam $beam: of 64 sentences $right are right: $(head -n 5 "$TMP/out")"
    cp "$TMP/out" "$TMP/found"
    expect 0 "$attn" translate -m "$model" -b $beam --threads 3 --mini-batch 5 "$TMP/source"
    same "threads and batches" "$TMP/found" "$TMP/out"
done

# --left-to-right uses one decoder, with other scores.
expect 0 "$attn" translate -m "$model" -b 12 --word-scores "$TMP/source"
cp "$TMP/out" "$TMP/both"
expect 0 "$attn" translate -m "$model" -b 12 --word-scores --left-to-right "$TMP/source"
cmp -s "$TMP/both" "$TMP/out" && fail "--left-to-right changes nothing"

# The mean of both directions.
scores_agree "$model"
scores_agree "$model" "$forth"
scores_agree "$forth" "$model"
# One decoder alone, by option or by the model's configuration.
scores_agree "$model" --left-to-right
# shellcheck disable=SC2086
tiny_model asks $both --set decode.left_to_right=true --set train.epochs=8
asks=$TMP/asks/best.safetensors
asked() { "$attn" score -m "$asks" "$@" "$TMP/tiny.tsv"; }
expect 0 asked --left-to-right
cp "$TMP/out" "$TMP/one"
expect 0 asked
same "what the model asks for" "$TMP/one" "$TMP/out"
expect 0 asked --left-to-right=false
cmp -s "$TMP/one" "$TMP/out" && fail "score --left-to-right=false changes nothing"
expect 0 "$attn" translate -m "$asks" --json --confidence "$TMP/source"
grep -q '"calibrated": true' "$TMP/out" || fail "no calibration: $(cat "$TMP/err")"
expect 0 "$attn" translate -m "$asks" --json --confidence --left-to-right=false "$TMP/source"
grep -q '"calibrated": true' "$TMP/out" && fail "calibrated with one decoder, used with two"
says "the calibration is of the first decoder alone: confidence is"

# Prefixes, heatmaps and the page.
expect 0 "$attn" translate -m "$model" --prefix 'je' "$TMP/source"
[ "$(grep -c '^je' "$TMP/out")" -eq 64 ] || fail "a prefix: $(head -n 3 "$TMP/out")"
expect 0 "$attn" heatmap -f csv -m "$model" "i'm home ."
expect 0 "$attn" heatmap -f html -o "$TMP/page.html" -m "$model" "i'm home ."
[ -s "$TMP/page.html" ] || fail "no page"

# A resumed training ends with the same bytes.
part="$both --set train.schedule=constant --set train.epochs=30"
# shellcheck disable=SC2086
tiny_model whole $part
# shellcheck disable=SC2086
tiny_model part $part --max-updates 150
# shellcheck disable=SC2086
tiny_model part $part --resume
same "resumed" "$TMP/whole/best.safetensors" "$TMP/part/best.safetensors"

# A model of two decoders cannot also be right-to-left.
# shellcheck disable=SC2086
expect 2 "$attn" train --config "$TMP/tiny.json" --run "$TMP/refused" $both \
    --set model.decoder.right_to_left=true
says "do not go together"
