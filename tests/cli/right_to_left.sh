#!/bin/sh
# right_to_left.sh - a right-to-left model: alone, and in ensembles with left-to-right models.
set -eu
. tests/cli/tiny_model.inc
tiny_model forth
tiny_model back --set model.decoder.right_to_left=true
tiny_model unsure --epochs 24
forth=$TMP/forth/best.safetensors back=$TMP/back/best.safetensors unsure=$TMP/unsure/best.safetensors
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/target"
right() { # lines of $TMP/out that are right
    paste -d '\t' "$TMP/out" "$TMP/target" | awk -F '\t' '$1 == $2' | wc -l | tr -d ' '
}

# Memorized translations are in reading order, also in the validation.
expect 0 "$attn" translate -m "$back" "$TMP/source"
[ "$(right)" -ge 60 ] || fail "of 64 sentences $(right) are right: $(head -n 5 "$TMP/out")"
bleu=$(sed -n 's/.*"valid_bleu": \([0-9]*\).*/\1/p' "$TMP/back/train.jsonl" | tail -n 1)
[ "$bleu" -ge 90 ] || fail "validation: $bleu"

# A resumed training ends with the same bytes.
interrupted="--set model.decoder.right_to_left=true --set train.schedule=constant --set train.epochs=30"
# shellcheck disable=SC2086  # a list of options
tiny_model whole $interrupted
# shellcheck disable=SC2086
tiny_model part $interrupted --max-updates 150
# shellcheck disable=SC2086
tiny_model part $interrupted --resume
same "resumed" "$TMP/whole/best.safetensors" "$TMP/part/best.safetensors"

# An ensemble of a weak and a good model: both search and both rescore.
expect 0 "$attn" translate -m "$unsure" -b 12 "$TMP/source"
alone=$(right)
expect 0 "$attn" translate -m "$unsure" -m "$back" -b 12 "$TMP/source"
together=$(right)
[ "$together" -gt $((alone + 5)) ] || fail "$alone are right alone, $together together"
cp "$TMP/out" "$TMP/voted"
expect 0 "$attn" translate -m "$unsure" -m "$back" -b 12 --threads 3 --mini-batch 5 "$TMP/source"
same "threads and batches" "$TMP/voted" "$TMP/out"

# Constraints of one line do not change other lines.
printf 'nowhere\tva\n' >"$TMP/glossary"
expect 0 "$attn" translate -m "$unsure" -m "$back" -b 12 --glossary "$TMP/glossary" "$TMP/source"
same "a glossary without words of the text" "$TMP/voted" "$TMP/out"
sed 's/.*//; $s/^/je /' "$TMP/source" >"$TMP/prefixes"
expect 0 "$attn" translate -m "$unsure" -m "$back" -b 12 --prefix-file "$TMP/prefixes" "$TMP/source"
sed '$d' "$TMP/voted" >"$TMP/before"
sed '$d' "$TMP/out" >"$TMP/now"
same "a prefix of another line" "$TMP/before" "$TMP/now"

expect 0 "$attn" translate -m "$unsure" -m "$back" -b 12 --shortlist 50 "$TMP/source"
expect 0 "$attn" translate -m "$unsure" -m "$back" -b 1 "$TMP/source"

# In any order of the models.
scores_agree "$unsure" "$back"
scores_agree "$back" "$unsure"
scores_agree "$forth" "$unsure" "$back"

# Alignments, scores and heatmaps are in reading order.
expect 0 "$attn" translate -m "$back" --word-scores --alignment "$TMP/source"
grep -q '||| [0-9]*-[0-9]' "$TMP/out" || fail "no alignment: $(head -n 2 "$TMP/out")"
expect 0 "$attn" heatmap -f csv -m "$back" "i'm home ."
[ "$(sed '1d; s/,.*//' "$TMP/out" | tail -n 2 | tr '\n' ' ')" = "▁. </s> " ] || fail "rows: $(cat "$TMP/out")"
expect 0 "$attn" translate -m "$forth" -m "$back" --prefix 'je' "$TMP/source"
[ "$(grep -c '^je' "$TMP/out")" -eq 64 ] || fail "a prefix in an ensemble: $(head -n 3 "$TMP/out")"

# Prefixes.
for option in "--prefix je" "--prefix-file $TMP/target" "--glossary $TMP/tiny.tsv" --json-input; do
    # shellcheck disable=SC2086  # an option and its value
    expect 2 "$attn" translate -m "$back" -m "$forth" $option "$TMP/source"
    says "${option%% *}: the model writes translations from right to left"
done
expect 2 "$attn" heatmap -f html -o "$TMP/page" -m "$forth" -m "$back" "i'm home ."
says "--format html: the model writes"
expect 2 "$attn" heatmap -f json -m "$back" "i'm home ."
says "--format json: the model writes"
