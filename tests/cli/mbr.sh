#!/bin/sh
# mbr.sh - translate --mbr: selects from the same beam, for any threads and batches.
set -eu
. tests/cli/tiny_model.inc
tiny_model model --epochs 6 # unsure enough
translate() { "$attn" translate -m "$TMP/model/best.safetensors" "$@"; }
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"

translate -b 12 --n-best "$TMP/source" >"$TMP/beam"
for score in chrf bleu; do
    expect 0 translate -b 12 --mbr $score --threads 1 "$TMP/source"
    cp "$TMP/out" "$TMP/$score"
    translate -b 12 --mbr $score --threads 3 --mini-batch 5 "$TMP/source" >"$TMP/out"
    same "$score: threads and batches" "$TMP/$score" "$TMP/out"
    translate -b 12 --mbr $score --n-best=3 "$TMP/source" >"$TMP/list"
    [ "$(wc -l <"$TMP/list")" -eq 192 ] || fail "$score: $(wc -l <"$TMP/list") lines of three each"
    sort "$TMP/beam" >"$TMP/beam.sorted"
    sort "$TMP/list" | comm -23 - "$TMP/beam.sorted" >"$TMP/out"
    [ ! -s "$TMP/out" ] || fail "$score: not of the beam: $(head -n 3 "$TMP/out")"
    awk -F ' [|][|][|] ' 'FNR == 1 || $1 != last { print $2 } { last = $1 }' "$TMP/list" >"$TMP/out"
    same "$score: the first of the list is the choice" "$TMP/$score" "$TMP/out"
done
translate -b 12 "$TMP/source" >"$TMP/plain"
if cmp -s "$TMP/plain" "$TMP/chrf"; then fail "--mbr chooses nothing else"; fi
translate -b 12 --mbr chrf --mbr-scale 100 "$TMP/source" >"$TMP/sure"
if cmp -s "$TMP/chrf" "$TMP/sure"; then fail "--mbr-scale changes nothing"; fi
printf 'go .\n\n' >"$TMP/blank"
translate -b 12 --mbr bleu "$TMP/blank" >"$TMP/out"
[ "$(wc -l <"$TMP/out")" -eq 2 ] || fail "an empty line"

expect 2 translate --mbr chrf -b 1 "$TMP/source"
says "--mbr chooses among the translations of a beam"
expect 2 translate --mbr ter "$TMP/source"
says "'ter' is not none, chrf or bleu"
expect 2 translate --mbr chrf --json --alternatives 2 "$TMP/source"
says "--alternatives belong to the most probable translation"
