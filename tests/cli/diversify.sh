#!/bin/sh
# diversify.sh - scripts/diversify: two teachers, their translations of the sources, a student.
set -eu
. tests/cli/tiny_model.inc
. scripts/trained.inc
export THREADS=1
epochs() { member "$1/train.jsonl" epoch; } # RUN: its number of epochs

tiny_model model --epochs 1 # for $TMP/tiny.json
cut -f 1 "$TMP/tiny.tsv" >"$TMP/tiny.en"
cut -f 2 "$TMP/tiny.tsv" | gzip >"$TMP/tiny.fr"
runs="$TMP/its runs"
expect 0 scripts/diversify "$runs" --config "$TMP/tiny.json" --set data.train="$TMP/tiny.{}" --epochs 24
cp "$TMP/err" "$TMP/log"
"$attn" inspect --json "$runs/backwards/best.safetensors" | grep -q '"right_to_left": *true' ||
    fail "the second teacher writes forwards"

# More pairs: the teachers' translations that differ from the target, each once.
printf 'en\tfr\n' | cat - "$TMP/tiny.tsv" >"$TMP/pairs"
same "the pairs" "$TMP/pairs" "$runs/train.tsv"
"$attn" translate --model "$runs/forwards/best.safetensors" --model "$runs/backwards/best.safetensors" \
    --beam-size 5 --quiet "$TMP/tiny.en" | paste "$TMP/tiny.en" - >"$TMP/said"
{ printf 'en\tfr\n' && grep -vxF -f "$TMP/tiny.tsv" "$TMP/said" | awk -F '\t' '$2 != "" && !there[$0]++'; } \
    >"$TMP/more"
same "what the teachers say" "$TMP/more" "$runs/more.tsv"
more=$(wc -l <"$runs/more.tsv")
[ "$more" -gt 4 ] && [ "$more" -lt 65 ] || fail "$more new pairs are no test"

# The student trains on all pairs, with the same number of updates.
grep -q "data  *$((64 + more - 1)) training pairs" "$TMP/log" ||
    fail "what did the student read? $(cat "$TMP/log")"
shorter=$(awk -v more="$more" 'BEGIN { printf "%.0f", 24 * 65 / (65 + more) }')
[ "$(epochs "$runs/student")" -eq "$shorter" ] || fail "$(epochs "$runs/student") epochs, not $shorter"
! [ -d "$runs/student-backwards" ] || fail "a student that was not asked for"

# It has their vocabulary.
expect 0 "$attn" translate --model "$runs/student/best.safetensors" \
    --model "$runs/backwards/best.safetensors" --model "$runs/forwards/best.safetensors" "$TMP/tiny.en"

# Finished runs stay; STUDENTS=2 adds a student.
STUDENTS=2 expect 0 scripts/diversify "$runs" --config "$TMP/tiny.json" --set data.train="$TMP/tiny.{}" \
    --epochs 24
[ "$(grep -c '^diversify: ' "$TMP/err")" -eq 1 ] || fail "made again: $(cat "$TMP/err")"
[ "$(epochs "$runs/student-backwards")" -eq "$shorter" ] ||
    fail "the second student: $(epochs "$runs/student-backwards") epochs, not $shorter"
expect 1 scripts/diversify "$runs" --config "$TMP/tiny.json" --epochs 23
says "was made with other arguments"

# Columns in any order; two files; a limit; held-out pairs stay held out.
printf 'en\tfr\n' >"$TMP/head"
awk -F '\t' -v OFS='\t' 'BEGIN { print "fr", "x", "en" } { print $2, "x", $1 }' "$TMP/tiny.tsv" \
    >"$TMP/named.tsv"
awk -F '\t' -v OFS='\t' 'NR <= 9 { print $2, "", $1 }' "$TMP/tiny.tsv" >"$TMP/plain.tsv"
expect 0 scripts/diversify "$TMP/columns" --config "$TMP/tiny.json" --epochs 1 --set data.limit=70 \
    --set data.train="$TMP/named.tsv,$TMP/plain.tsv" --set data.columns=fr,x,en \
    --set data.valid= --set data.held_out=0.2
{ cat "$TMP/pairs" && head -n 6 "$TMP/tiny.tsv"; } | sort >"$TMP/both"
for kind in train valid; do sed 1d "$TMP/columns/$kind.tsv"; done | cat - "$TMP/head" | sort >"$TMP/parts"
same "pairs of two files" "$TMP/both" "$TMP/parts"
cut -f 1 "$TMP/columns/train.tsv" "$TMP/columns/more.tsv" | sort -u >"$TMP/trained"
sed 1d "$TMP/columns/valid.tsv" | cut -f 1 | sort -u | comm -12 - "$TMP/trained" >"$TMP/seen"
same "held-out sources that the student learns" /dev/null "$TMP/seen"

# Options outside the configuration are refused.
for option in "--init $TMP/model/best.safetensors" --vocabulary="$TMP/model/best.safetensors"; do
    # shellcheck disable=SC2086  # an option and its value
    expect 2 scripts/diversify "$TMP/none" --config "$TMP/tiny.json" $option
    says "${option%%[ =]*} is not for here"
done

expect 2 scripts/diversify
expect 2 scripts/diversify --config "$TMP/tiny.json"
expect 2 scripts/diversify "$TMP/none" --config "$TMP/tiny.json" --set data.valid=
says "no validation data is configured"
expect 2 scripts/diversify "$TMP/none" # another configuration, because nothing is there yet
says "no training data is configured"
STUDENTS=3 expect 1 scripts/diversify "$TMP/none" --config "$TMP/tiny.json"
says "STUDENTS is 1 or 2"
