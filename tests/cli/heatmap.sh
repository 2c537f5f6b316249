#!/bin/sh
# heatmap.sh - attention as text, tables and pictures.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
heatmap() { "$attn" heatmap -m "$model" "$@"; }

# check_table FILE ROWS COLUMNS: labels, and weights that sum to 1 in each row
check_table() {
    awk -F , -v rows="$2" -v columns="$3" '
        NF != columns + 1 { print "fields:", NF; bad = 1 }
        NR > 1 { s = 0; for (i = 2; i <= NF; i++) { s += $i; if ($i < 0) bad = 1 }
                 if (s < 0.99999 || s > 1.00001) { print "sum:", s; bad = 1 } }
        END { if (NR != rows + 1) { print "lines:", NR; bad = 1 } exit bad }' "$1" ||
            fail "table: $(cat "$1")"
}

expect 0 heatmap -f csv --level word "i'm home ."
check_table "$TMP/out" 6 4
[ "$(head -n 1 "$TMP/out")" = ",i'm,home,.,</s>" ] || fail "columns: $(head -n 1 "$TMP/out")"
[ "$(cut -d , -f 1 "$TMP/out" | paste -s -d ' ' -)" = " je suis chez moi . </s>" ] ||
    fail "rows: $(cat "$TMP/out")"

# A translation from the command line, in words and in subwords; full precision.
expect 0 heatmap -f csv --level word -t "il est calme ." "he's calm ."
check_table "$TMP/out" 5 4
cut -d , -f 1 "$TMP/out" >"$TMP/rows"
printf '\nil\nest\ncalme\n.\n</s>\n' | cmp -s - "$TMP/rows" || fail "rows: $(cat "$TMP/rows")"
grep -Eq '0\.[0-9]{8}' "$TMP/out" || fail "weights are rounded: $(cat "$TMP/out")"
cp "$TMP/out" "$TMP/forced"
expect 0 heatmap -f csv -t "il est calme ." "he's calm ."
[ "$(wc -l <"$TMP/out")" -ge 6 ] || fail "subwords: $(cat "$TMP/out")"
[ "$(head -n 1 "$TMP/out" | tr -cd , | wc -c)" -ge 4 ] || fail "subwords: $(cat "$TMP/out")"

for blank in "" "  "; do
    expect 2 heatmap "$blank"
    says "the sentence is empty"
done

# The same translation has the same weights with greedy search, beam search and --target.
for beam in 1 5; do
    expect 0 heatmap -b $beam -f csv --level word "he's calm ."
    same "beam $beam" "$TMP/forced" "$TMP/out"
done
printf "he's calm .\n" >"$TMP/in"
heatmap -f csv --level word <"$TMP/in" >"$TMP/out"
same "from standard input" "$TMP/forced" "$TMP/out"

# Text without colours, because the output is not a terminal.
expect 0 heatmap "he's calm ."
grep -q 'calme' "$TMP/out" || fail "text: $(cat "$TMP/out")"
! grep -q "$(printf '\033')" "$TMP/out" || fail "colours in a file"

# Files: one for one sentence, numbered for several; none for blank lines.
expect 0 heatmap --level word -o "$TMP/calm" -t "il est calme ." "he's calm ."
says "wrote $TMP/calm.svg"
same "csv file" "$TMP/forced" "$TMP/calm.csv"
[ "$(head -c 2 "$TMP/calm.pgm")" = P5 ] || fail "no PGM"
[ "$(wc -c <"$TMP/calm.pgm")" -gt $((4 * 5 * 16 * 16)) ] || fail "PGM is too small"
grep -q '<svg' "$TMP/calm.svg" && grep -q 'calme' "$TMP/calm.svg" || fail "no SVG"
# After right-to-left text a mark (U+200E) keeps the direction of the arrow in titles.
mark=$(printf '\342\200\216')
for format in text svg html; do
    expect 0 heatmap -q -f $format -t "שלום" "שלום"
    grep -qF "שלום$mark → שלום" "$TMP/out" || fail "$format: no mark: $(cat "$TMP/out")"
    expect 0 heatmap -q -f $format "go ."
    grep -qF "go . → " "$TMP/out" || fail "$format: no title: $(cat "$TMP/out")"
done
printf "go .\n\nhi !\n" >"$TMP/in"
(cd "$TMP" && expect 0 "$attn" heatmap -q -m "$model" --format csv,svg,text --output many <in) || exit 1
[ ! -s "$TMP/err" ] || fail "--quiet is not quiet"
[ "$(cd "$TMP" && echo many*)" = "many-1.csv many-1.svg many-1.txt many-3.csv many-3.svg many-3.txt" ] ||
    fail "files: $(cd "$TMP" && echo many*)"
blanks() { printf '\n \n' | heatmap "$@"; }
expect 0 blanks -o "$TMP/blank"
says "no line contains text: there is nothing to show"
[ "$(echo "$TMP"/blank*)" = "$TMP/blank*" ] || fail "files of blank lines"
expect 0 blanks -f html -o "$TMP/page"
says "no line contains text: there is nothing to show"
mkdir "$TMP/named" && expect 0 heatmap -o "$TMP/named/go.svg" "go ."
expect 0 heatmap -o "$TMP/named/hi.csv" -f csv,text "hi !"
expect 0 heatmap -o "$TMP/named/page.html" "hi !"
expect 0 heatmap -o "$TMP/named/up.SVG" "go ."
[ "$(cd "$TMP/named" && echo *)" = "go.svg hi.csv hi.txt page.html up.SVG" ] ||
    fail "files: $(cd "$TMP/named" && echo *)"
printf "va !\n\nsalut !\n" >"$TMP/targets"
expect 0 heatmap -f csv --target-file "$TMP/targets" <"$TMP/in"
[ "$(grep -c '</s>' "$TMP/out")" -eq 4 ] || fail "two tables: $(cat "$TMP/out")"

# Errors.
(cd "$TMP" && expect 2 "$attn" heatmap "go .")
says "no model given"
expect 2 heatmap -f csv,svg "go ."
says "--output PREFIX"
expect 2 heatmap -f cvs "go ."
says "did you mean 'csv'?"
expect 2 heatmap go .
says "put the sentence in quotes"
expect 3 heatmap -t "va !" <"$TMP/in"
says "3 sentences, but 1 translation"
expect 2 heatmap -o '' "go ."
says "option '--output': the prefix is empty"
mkdir "$TMP/hm" && expect 2 heatmap -o "$TMP/hm/" "go ."
says "'$TMP/hm/' is a folder"
says "hint: --output $TMP/hm/calm writes $TMP/hm/calm.csv"
expect 2 heatmap -o "$TMP/x.svg" --cell 3 "go ."
says "option '--cell' does nothing without '--format pgm'"
for ending in png jpg jpeg PNG; do
    expect 2 heatmap -o "$TMP/x.$ending" "go ."
    says "$(echo "$ending" | tr PNG png) is not among the formats"
    says "hint: pictures are .svg and .pgm"
done
(cd "$TMP/hm" && expect 0 "$attn" heatmap -m "$model" -f svg -o - "go .") || exit 1
grep -q '<svg' "$TMP/out" || fail "-o - is not standard output"
expect 2 heatmap -f csv,svg -o - "go ."
says "only one format can go to standard output"
[ -z "$(ls -A "$TMP/hm")" ] || fail "files: $(ls -A "$TMP/hm")"
(cd "$TMP" && expect 0 "$attn" heatmap -m "$model" in && says "'in' is used as the sentence") || exit 1
(cd "$TMP" && expect 0 "$attn" heatmap -q -m "$model" in) || exit 1
[ ! -s "$TMP/err" ] || fail "--quiet is not quiet: $(cat "$TMP/err")"
expect 1 heatmap -o "$TMP/none/x" "go ."
says "cannot create"
if [ -e /dev/full ]; then
    status=0
    heatmap "go ." >/dev/full 2>"$TMP/err" || status=$?
    [ $status -eq 1 ] || fail "status $status on a full disk"
fi

# JSON contains all intermediate values: its weights are those of the picture, and a search has a beam.
expect 0 heatmap -f json -t "il est calme ." "he's calm ."
cp "$TMP/out" "$TMP/forced.json"
for key in sentence translation heatmap source target steps tensors; do
    grep -q "^ *{*\"$key\": " "$TMP/out" || fail "no $key in the JSON"
done
for name in source.embedded encoder.annotations encoder.0.forward.hidden decoder.attention.query \
    decoder.attention.keys decoder.attention.scores decoder.attention.weights decoder.attention.context \
    decoder.gru.0.hidden decoder.readout; do
    grep -q "^  \"$name\": \[\[" "$TMP/out" || fail "no $name in the JSON"
done
! grep -q '"beam"' "$TMP/out" || fail "a beam without a search"
[ "$(grep '^  {"token"' "$TMP/out" | head -n 1 | grep -o '"logit"' | wc -l)" -eq 11 ] ||
    fail "not ten best tokens"
# rows NAME: the numbers of a tensor, one row a line
rows() { sed -n "s/^  \"$1\": \[\[\(.*\)\]\],*}*\$/\1/p" "$2" | sed 's/\], \[/\n/g' | tr -d ' '; }
heatmap -f csv -t "il est calme ." "he's calm ." | sed '1d;s/^[^,]*,//' >"$TMP/csv"
rows decoder.attention.weights "$TMP/forced.json" >"$TMP/rows"
[ -s "$TMP/rows" ] || fail "no weights in the JSON"
paste -d , "$TMP/csv" "$TMP/rows" | awk -F , '
    { for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d > 1e-5 || d < -1e-5) bad = 1 } }
    END { exit bad || NR < 5 }' || fail "JSON and CSV differ"
rows decoder.attention.scores "$TMP/forced.json" >"$TMP/scores"
paste -d , "$TMP/scores" "$TMP/rows" | awk -F , '
    { s = 0; n = NF / 2
      for (i = 1; i <= n; i++) s += exp($i)
      for (i = 1; i <= n; i++) { d = exp($i) / s - $(i + n); if (d > 1e-5 || d < -1e-5) bad = 1 } }
    END { exit bad }' || fail "the weights are not the softmax of the scores"
# Invalid bytes are U+FFFD in all outputs, as in the input of the model.
printf 'caf\351 \000 .\n' >"$TMP/in"
for format in json svg html; do
    expect 0 heatmap -q -f $format <"$TMP/in"
    iconv -f UTF-8 -t UTF-8 <"$TMP/out" >/dev/null || fail "$format: not UTF-8"
done
printf "go .\n\nhi !\n" >"$TMP/in"
expect 0 heatmap -b 3 -f json <"$TMP/in"
[ "$(grep -c '"beam": \[' "$TMP/out")" -eq 2 ] && [ "$(wc -l <"$TMP/out")" -eq 3 ] ||
    fail "not one line for each, with a beam for each sentence"
[ "$(sed -n 2p "$TMP/out")" = '{"sentence": "", "translation": ""}' ] ||
    fail "an empty line: $(cat "$TMP/out")"
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys
for line in sys.stdin:
    shown = json.loads(line)
    if not shown["sentence"]: continue
    assert len(shown["steps"]) == len(shown["target"]) == len(shown["tensors"]["decoder.readout"])
    assert all(node["parent"] < i for i, node in enumerate(shown["beam"]))' <"$TMP/out" ||
        fail "JSON is not JSON"
fi
expect 0 heatmap -f json,svg -o "$TMP/all" "go ."
[ -s "$TMP/all.json" ] && [ -s "$TMP/all.svg" ] || fail "no files"
