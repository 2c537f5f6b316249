#!/bin/sh
# inspect_data.sh - attn-mt inspect of sentence pairs: statistics, and suspicious pairs with their lines.
set -eu
. tests/cli/tiny_model.inc
pairs() { "$attn" inspect "$@"; }

# found TEXT COUNT LINES: a line of the report
found() {
    grep -Eq "^  $1  +$2 *${3-}\$" "$TMP/out" || fail "no '$1 $2 ${3-}' in $(cat "$TMP/out")"
}
nothing() { grep -Eq "^  $1 +0\$" "$TMP/out" || fail "found: $(grep "$1" "$TMP/out")"; }

# Data without findings.
expect 0 pairs data/train.tsv --valid data/valid.tsv
found pairs 10,644
found "source characters" 27 "45 +67"
for what in "repeated pairs" "pairs also in validation" "the same text on both sides" \
    "swapped columns" "wrongly decoded letters.*" "very different lengths"; do
    nothing "$what"
done
grep -Eq '^  source  +[0-9]+  [0-9]+ seen once; Latin 100%$' "$TMP/out" ||
    fail "characters: $(cat "$TMP/out")"

# Pairs are read more than once.
for file in - /dev/stdin; do
    cat data/valid.tsv | expect 2 pairs "$file"
    says "'$file' is a pipe or a device"
    says "> pairs.tsv"
done

# Each finding, at its line.
head -n 2000 data/train.tsv | tail -n 1000 >"$TMP/mine.tsv"
awk -F '\t' 'NR == 7 { print "only one column"; print "no target\t" }
    NR == 100 || NR == 900 { print $2 "\t" $1; next }
    NR == 200 { print "the same\tthe same" }
    NR == 300 { print "He was at the caf\303\203\302\251.\tIl \303\203\302\251tait au caf\303\251." }
    NR == 400 { print "It\342\200\231s fine.\tC\303\242\342\202\254\342\204\242est bien." }
    NR == 500 { print "Yes.\t" $2 " " $2 " " $2 " " $2 " " $2 }
    NR == 600 { print "\320\264\320\260\t\344\275\240\345\245\275" }
    { print }' "$TMP/mine.tsv" >"$TMP/odd.tsv"
sed -n 10,16p "$TMP/mine.tsv" >>"$TMP/odd.tsv"
{ sed -n 20,22p "$TMP/mine.tsv" && sed -n 30p "$TMP/mine.tsv" | sed 's/$/ non/'; } >"$TMP/valid.tsv"
expect 0 pairs "$TMP/odd.tsv" --valid "$TMP/valid.tsv"
found pairs 1,012
grep -q "dropped 1 line without a TAB between the languages ($TMP/odd.tsv: line 7)" "$TMP/out" ||
    fail "line 7: $(cat "$TMP/out")"
grep -q "dropped 1 pair with an empty side ($TMP/odd.tsv: line 8)" "$TMP/out" ||
    fail "line 8: $(cat "$TMP/out")"
found "repeated pairs" 7 "lines 1008, 1009, 1010, 1011, 1012, \.\.\."
found "pairs also in validation" 3 "lines 22, 23, 24"
found "sources in validation, other target" 1 "line 32"
found "the same text on both sides" 1 "line 202"
found "swapped columns" 2 "lines 102, 907"
found "wrongly decoded letters, as in \"Ã©\"" 2 "lines 303, 404"
found "very different lengths" 1 "line 505"
grep -q '^  source .*; Latin .*%, Cyrillic ' "$TMP/out" || fail "scripts: $(cat "$TMP/out")"
grep -q '^  target .*; Latin .*%, Han ' "$TMP/out" || fail "scripts: $(cat "$TMP/out")"
! grep -q 'seem to be swapped' "$TMP/out" || fail "columns of good validation pairs"
awk -F '\t' '{ print $2 "\t" $1 }' data/valid.tsv >"$TMP/swapped.tsv"
expect 0 pairs "$TMP/odd.tsv" --valid "$TMP/swapped.tsv"
grep -q "The columns of $TMP/swapped.tsv seem to be swapped" "$TMP/out" ||
    fail "swapped columns: $(cat "$TMP/out")"

# The same as JSON; from two files; compressed.
expect 0 pairs --json "$TMP/odd.tsv" --valid "$TMP/valid.tsv"
for text in '"pairs": 1012' '"swapped": {"count": 2, "lines": \[102, 907\]}' \
    '"mojibake": {"count": 2, "lines": \[303, 404\]}' \
    '"in_validation": {"count": 3' '"Cyrillic": 2' '"validation": {"pairs": 4, "swapped": 0}'; do
    grep -q "$text" "$TMP/out" || fail "JSON: no '$text' in $(cat "$TMP/out")"
done
if command -v python3 >/dev/null; then python3 -m json.tool "$TMP/out" >/dev/null || fail "no JSON"; fi
expect 0 pairs "$TMP/mine.tsv"
tail -n +2 "$TMP/out" >"$TMP/report"
cut -f 1 "$TMP/mine.tsv" >"$TMP/p.en"
cut -f 2 "$TMP/mine.tsv" | gzip -c >"$TMP/p.fr"
expect 0 pairs --languages en-fr "$TMP/p.{}"
tail -n +2 "$TMP/out" | cmp -s - "$TMP/report" || fail "two files: $(cat "$TMP/out")"
printf '\344\275\240\345\245\275\tHallo\n' | gzip -c >"$TMP/one.gz"
expect 0 pairs "$TMP/one.gz"
found pairs 1
found "source characters" 2 "2 +2"

# No-break and wide spaces are reported, with the option that replaces them; a rare script has no exponent.
awk -F '\t' 'NR % 100 == 0 { $1 = $1 "\302\240!" } { print "So: " $1 "\t" $1 }
    NR == 2 { print "\320\264\t\320\264" }' data/train.tsv >"$TMP/spaces.tsv"
expect 0 pairs "$TMP/spaces.tsv"
for side in source target; do
    found "$side, no-break or wide spaces" 106 " text.normalize=nfkc turns them into plain spaces"
done
grep -Eq '; Latin 100%, Cyrillic under 0.01%$' "$TMP/out" || fail "scripts: $(cat "$TMP/out")"
expect 0 pairs "$TMP/p.{}" --languages en-fr
if grep -q 'source, no-break' "$TMP/out"; then fail "no such spaces: $(cat "$TMP/out")"; fi

# The quotes of a spreadsheet are reported, and the suggested command removes them.
# In a file that no spreadsheet can have written, they may be text.
printf 'He said hi.\t"Er sagte ""hallo""."\nSay "yes".\tSag "ja".\n"So"\tSo\n' >"$TMP/sheet.tsv"
expect 0 pairs "$TMP/sheet.tsv"
grep -q "found the quotes of a spreadsheet, .* in 1 pair ($TMP/sheet.tsv: line 1)" "$TMP/out" ||
    fail "quotes: $(cat "$TMP/out")"
sed -n 's/.*to remove them: \(awk .*\) FILE > NEW$/\1/p' "$TMP/out" >"$TMP/take_off"
sh "$TMP/take_off" <"$TMP/sheet.tsv" >"$TMP/without"
printf 'He said hi.\tEr sagte "hallo".\nSay "yes".\tSag "ja".\nSo\tSo\n' |
    cmp - "$TMP/without" || fail "still quoted"

# The first line may name the columns, in either order, as for training.
{ printf 'en\tfr\n' && cat "$TMP/mine.tsv"; } >"$TMP/named.tsv"
for order in "" "--languages en-fr" "--languages fr-en"; do
    # shellcheck disable=SC2086  # an option and its value
    expect 0 pairs $order "$TMP/named.tsv"
    found pairs "$(sed -n 's/^  pairs  *//p' "$TMP/report")"
done
awk -F '\t' '{ print (NR == 1 ? "note" : NR) "\t" $0 }' "$TMP/named.tsv" >"$TMP/noted.tsv"
expect 0 pairs "$TMP/noted.tsv"
says "columns  en and fr, as '$TMP/noted.tsv' says"
{ tail -n +2 "$TMP/out" | grep -v header; } | cmp -s - "$TMP/report" || fail "a note: $(cat "$TMP/out")"

# The command line names the columns.
awk -F '\t' '{ print NR "\t" $2 "\tx\t" $1 }' "$TMP/mine.tsv" >"$TMP/wide.tsv"
expect 0 pairs --columns=-,fr,-,en --languages en-fr "$TMP/wide.tsv"
tail -n +2 "$TMP/out" | cmp -s - "$TMP/report" || fail "named columns: $(cat "$TMP/out")"
awk -F '\t' '{ print NR "\tx\t" $0 }' "$TMP/mine.tsv" >"$TMP/wide.tsv"
expect 0 pairs --columns=-,-,en,fr "$TMP/wide.tsv"
tail -n +2 "$TMP/out" | cmp -s - "$TMP/report" || fail "the first two: $(cat "$TMP/out")"
expect 2 pairs --columns=-,en "$TMP/wide.tsv"
says "language 'target' is not one of the columns"

# Invalid arguments.
expect 2 pairs --vocab "$TMP/mine.tsv"
says "contains sentence pairs, but --vocab needs a model"
expect 2 pairs --languages en "$TMP/p.{}"
says "'en' does not name two languages"
expect 1 pairs --languages en-de "$TMP/p.{}"
says "p.de"
expect 1 pairs "$TMP/p.{}"
says "stands for 'source' and 'target', --languages names others"
expect 1 pairs "$TMP/mine.tsv" --valid "$TMP/none"
says "none"
: >"$TMP/empty"
expect 3 pairs "$TMP/empty"
says "no usable sentence pair"
tiny_model one --set train.epochs=1
expect 2 pairs "$TMP/one/best.safetensors" --valid "$TMP/mine.tsv"
says "--valid is for sentence pairs"
expect 2 pairs "$TMP/one/best.safetensors" --languages en-fr
says "--languages is for sentence pairs"
expect 1 pairs "$TMP/none" --valid "$TMP/mine.tsv"
says "cannot open '$TMP/none'"
expect 3 pairs "$TMP" --languages en-fr
says "it is a folder"

# A text with NUL bytes is not a model, and a model with a line end in its length is not a text.
{ printf 'one byte NUL\000\tun octet\n' && cat "$TMP/mine.tsv"; } >"$TMP/nul.tsv"
expect 0 pairs "$TMP/nul.tsv"
grep -q "repaired 1 pair with NUL bytes ($TMP/nul.tsv: line 1)" "$TMP/out" || fail "NUL: $(cat "$TMP/out")"
{ printf '\220\012\000\000\000\000\000\000{' && cat "$TMP/mine.tsv"; } >"$TMP/header"
expect 2 pairs "$TMP/header" --valid "$TMP/mine.tsv"
says "is not text, but --valid is for sentence pairs"
