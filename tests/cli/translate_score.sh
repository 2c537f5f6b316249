#!/bin/sh
# translate_score.sh - translate --reference: the same scores as attn-mt bleu.
set -eu
. tests/cli/tiny_model.inc
tiny_model one --set train.epochs=30
model=$TMP/one/best.safetensors
translate() { "$attn" translate -q -m "$model" "$@"; }
head -n 30 "$TMP/tiny.tsv" | cut -f 1 >"$TMP/source"
head -n 30 "$TMP/tiny.tsv" | cut -f 2 >"$TMP/first"
tail -n 30 "$TMP/first" | sed 's/ \./ !/' >"$TMP/second"

# The same translations with and without --reference, and the same scores as attn-mt bleu.
translate "$TMP/source" >"$TMP/plain"
expect 0 "$attn" translate -m "$model" --reference "$TMP/first" --report "$TMP/report" "$TMP/source"
same "translations" "$TMP/plain" "$TMP/out"
"$attn" bleu "$TMP/first" -i "$TMP/plain" -m bleu chrf -w 2 --format text >"$TMP/text"
"$attn" bleu "$TMP/first" -i "$TMP/plain" -m bleu chrf -w 2 --format json >"$TMP/json"
same "report" "$TMP/json" "$TMP/report"
same "text" "$TMP/text" "$TMP/err"

# Several references, two input files, n-best lists and JSON: the best translation counts.
head -n 10 "$TMP/source" >"$TMP/a"
tail -n 20 "$TMP/source" >"$TMP/b"
"$attn" bleu "$TMP/first" "$TMP/second" -i "$TMP/plain" -m bleu chrf -w 2 --format json >"$TMP/json"
for form in "" --n-best=2 --json "--word-scores -b 5"; do
    # shellcheck disable=SC2086  # words
    expect 0 translate $form -r "$TMP/first" -r "$TMP/second" --report "$TMP/report" "$TMP/a" "$TMP/b"
    [ ! -s "$TMP/err" ] || fail "--quiet is not quiet: $(cat "$TMP/err")"
    same "report of $form" "$TMP/json" "$TMP/report"
done

# Errors. The folder of a report is checked before the translation; the translations stay.
expect 2 translate --report "$TMP/report" "$TMP/source"
says "--reference FILE"
expect 1 translate -r "$TMP/none" "$TMP/source"
says "$TMP/none"
[ ! -s "$TMP/out" ] || fail "translated before the references were there"
expect 1 translate -r "$TMP/first" --report "$TMP/no/where" "$TMP/source"
says "cannot create '$TMP/no/where'"
[ ! -s "$TMP/out" ] || fail "translated before the report's folder was there"
rm -f "$TMP/report"
# Another number of lines: an error before the work; of a pipe the translations stay.
expect 3 translate -r "$TMP/first" --report "$TMP/report" -o "$TMP/kept" "$TMP/a"
says "the text to translate has 10 lines, but the reference '$TMP/first' has 30"
[ ! -e "$TMP/kept" ] || fail "translated before the lines were counted"
cat "$TMP/a" | expect 3 translate -r "$TMP/first" --report "$TMP/report" -o "$TMP/kept"
says "30"
[ "$(wc -l <"$TMP/kept")" -eq 10 ] || fail "the translations are gone"
[ ! -e "$TMP/report" ] || fail "a report without scores"
