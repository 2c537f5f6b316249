#!/bin/sh
# confidence.sh - translate --confidence: calibrated by training, in [0, 1], lower where the model is unsure.
set -eu
. tests/cli/tiny_model.inc
tiny_model one --set train.epochs=8
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/target"

expect 0 "$attn" inspect "$model"
grep -q calibration "$TMP/out" || fail "no calibration in the model"

expect 0 translate -b 1 --json --confidence "$TMP/source"
[ ! -s "$TMP/err" ] || fail "said: $(cat "$TMP/err")"
[ "$(grep -c '"confidence": [01][0-9.e-]*, "calibrated": true, "word_confidence": \[' "$TMP/out")" -eq 64 ] ||
    fail "JSON: $(head -n 2 "$TMP/out")"

# On the validation data, the mean over all words is the share of words in the references (except for Platt's
# targets).
grep -o '"word": "[^"]*", "confidence": [0-9.e-]*' "$TMP/out" |
    awk '{ n++; s += $NF; if ($NF < 0 || $NF > 1) exit 1 }
    END { print n, s / n }' >"$TMP/said" || fail "not in [0, 1]"
translate -b 1 "$TMP/source" | paste - "$TMP/target" | awk -F '\t' '{
    n = split($1, mine, " "); m = split($2, there, " "); split("", left)
    for (i = 1; i <= m; i++) left[there[i]]++
    for (i = 1; i <= n; i++) { all++; if (left[mine[i]]-- > 0) right++ } }
    END { print all, right / all }' >"$TMP/found"
paste -d ' ' "$TMP/said" "$TMP/found" | awk '{ exit !($1 == $3 && $2 - $4 < 0.03 && $4 - $2 < 0.03) }' ||
    fail "confidence $(cat "$TMP/said"), found $(cat "$TMP/found")"

# Blank lines; n-best; several models; JSON only; input fields with the same names.
printf '\ngo .\n' >"$TMP/two"
expect 0 translate -b 2 --n-best --json --confidence "$TMP/two"
grep -q '"confidence": null, "calibrated": true, "word_confidence": \[\]' "$TMP/out" ||
    fail "blank: $(cat "$TMP/out")"
[ "$(tail -n 1 "$TMP/out" | grep -o '"word_confidence"' | wc -l)" -eq 3 ] || fail "n-best: $(cat "$TMP/out")"
expect 0 translate -m "$model" --json --confidence "$TMP/two"
says "several models have no calibration: confidence is the geometric mean of token probabilities"
grep -q '"calibrated": false' "$TMP/out" || fail "several models: $(cat "$TMP/out")"
expect 2 translate --confidence "$TMP/two"
says "--confidence is shown only in JSON"
says "hint: add --json"
echo '{"text": "go .", "confidence": 7}' >"$TMP/json"
expect 0 translate --json-input --confidence "$TMP/json"
[ "$(grep -o '"confidence"' "$TMP/out" | wc -l)" -gt 1 ] && ! grep -q '"confidence": 7' "$TMP/out" ||
    fail "a member twice: $(cat "$TMP/out")"
expect 0 translate --json-input "$TMP/json"
grep -q '"confidence": 7' "$TMP/out" || fail "a member of the input is lost"
