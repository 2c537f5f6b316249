#!/bin/sh
# inspect_clean.sh - attn-mt inspect --clean: nothing is lost, and parts share no source.
set -eu
. tests/cli/tiny_model.inc
clean() { "$attn" inspect "$@"; }
# is FILE TEXT: the file has this text, in which \n and \t are line ends and TABs
is() { printf "%b" "$2" | cmp - "$1" || fail "$1: $(cat "$1")"; }
# rows FILE COUNT
rows() { [ "$(wc -l <"$TMP/$1")" -eq "$2" ] || fail "$1 has $(wc -l <"$TMP/$1") lines instead of $2"; }

# Repeated pairs go, and what is asked for; the reasons and lines are in the other file.
printf 'en\tde\n%%s done\tfertig\nYes.\tJa.\nYes.\tJa.\nno TAB\nempty\t\n' >"$TMP/mine.tsv"
printf 'OK\tOK\n2 or 3\t3 oder 4\nNo.\tNein.\n' >>"$TMP/mine.tsv"
expect 0 clean "$TMP/mine.tsv" --clean "$TMP/clean.tsv" --drop placeholders,numbers
is "$TMP/clean.tsv" 'en\tde\nYes.\tJa.\nOK\tOK\nNo.\tNein.\n'
is "$TMP/clean.dropped.tsv" 'en\tde\treason\tline\tescaped
%s done\tfertig\tplaceholders\t2
Yes.\tJa.\trepeated_pairs\t4
no TAB\t\tno_tab\t5
empty\t\tempty_side\t6
2 or 3\t3 oder 4\tnumbers\t8\n'
grep -Eq "^  $TMP/clean.tsv +3\$" "$TMP/out" || fail "written: $(cat "$TMP/out")"
grep -Eq "^  $TMP/clean.dropped.tsv +5\$" "$TMP/out" || fail "dropped: $(cat "$TMP/out")"
grep -q '^    repeated_pairs 1, placeholders 1, numbers 1, empty_side 1, no_tab 1$' "$TMP/out" ||
    fail "reasons: $(cat "$TMP/out")"
expect 0 clean --json "$TMP/mine.tsv" --clean "$TMP/all.tsv" --drop none --dropped "$TMP/others"
rows all.tsv 7
rows others 3
grep -q 'others", "pairs": 2, "reasons": {"empty_side": 1, "no_tab": 1}}' "$TMP/out" ||
    fail "JSON: $(cat "$TMP/out")"
expect 0 clean "$TMP/clean.dropped.tsv"

# JSON has all lines.
seq 1 50 | awk '{ print "a" $1 "\tb" $1 "!" }' >"$TMP/many.tsv"
expect 0 clean --json "$TMP/many.tsv"
grep -q '"punctuation": {"count": 50, "lines": \[1, 2, .*, 49, 50\]}' "$TMP/out" ||
    fail "lines: $(cat "$TMP/out")"

# Texts with line ends are escaped, whatever the format; .gz compresses.
printf '{"en": "a\\nb\\\\", "de": "c\\td"}\n{"en": "a\\nb\\\\", "de": "c\\td"}\n' >"$TMP/units"
expect 0 clean "$TMP/units" --clean "$TMP/units.tsv.gz"
gzip -dc "$TMP/units.tsv.gz" >"$TMP/units.tsv"
is "$TMP/units.tsv" 'en\tde\tescaped\na\\nb\\\\\tc\\td\n'
gzip -dc "$TMP/units.dropped.tsv.gz" | grep -q 'repeated_pairs	2$' || fail "units: dropped"
expect 0 clean "$TMP/units.tsv.gz" --clean "$TMP/again.tsv"
cmp "$TMP/units.tsv" "$TMP/again.tsv"

# Parts: all pairs are in one of them, and no source in two, not even with other case and spaces.
awk 'BEGIN { for (i = 1; i <= 3000; i++) print (i % 3 ? "Source  " : "source ") i % 1000 "\tt" i }' \
    >"$TMP/pairs.tsv"
expect 0 clean "$TMP/pairs.tsv" --clean "$TMP/train.tsv" \
    --split-off "$TMP/valid.tsv=300,$TMP/test.tsv=150"
sources() { tail -n +2 "$1" | cut -f 1 | tr -s ' ' | tr S s | sort -u; }
for part in train valid test; do sources "$TMP/$part.tsv"; done | sort | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "in two parts: $(cat "$TMP/twice")"
for part in train valid test; do tail -n +2 "$TMP/$part.tsv"; done | sort >"$TMP/together"
sort "$TMP/pairs.tsv" | cmp - "$TMP/together"
rows valid.tsv 301
rows test.tsv 151

# The order of the file does not matter; a part can be split again, and training holds out of the rest.
sort -r "$TMP/pairs.tsv" >"$TMP/turned.tsv"
expect 0 clean "$TMP/turned.tsv" --clean "$TMP/rest.tsv" --split-off "$TMP/other.tsv=300"
sources "$TMP/other.tsv" >"$TMP/s1" && sources "$TMP/valid.tsv" | cmp - "$TMP/s1"
expect 0 clean "$TMP/train.tsv" --clean "$TMP/rest.tsv" --split-off "$TMP/more.tsv=300"
rows more.tsv 301
"$attn" train "$TMP/train.tsv" --set data.held_out=0.1 --dump-pairs=valid >"$TMP/held" 2>"$TMP/err"
held=$(wc -l <"$TMP/held")
{ [ "$held" -gt 150 ] && [ "$held" -lt 400 ]; } || fail "held out: $held"

# Several files of several formats are one set of pairs; a line has the name of its file.
printf 'en\tde\nYes.\tJa.\n%%d files\tDateien\n' >"$TMP/one.tsv"
printf '{"en": "No.", "de": "Nein."}\n{"en": "Yes.", "de": "Ja."}\n' >"$TMP/two.jsonl"
printf 'en,de\nNo.,Nein.\n%%s and %%d,"%%s, und"\nempty,\n' >"$TMP/three.csv"
expect 0 clean "$TMP/one.tsv" "$TMP/two.jsonl" "$TMP/three.csv" --clean "$TMP/clean.tsv" --drop placeholders
is "$TMP/clean.tsv" 'en\tde\tescaped\nYes.\tJa.\nNo.\tNein.\n'
is "$TMP/clean.dropped.tsv" "en\tde\treason\tline\tfile\tescaped
%d files\tDateien\tplaceholders\t3\t$TMP/one.tsv
Yes.\tJa.\trepeated_pairs\t2\t$TMP/two.jsonl
No.\tNein.\trepeated_pairs\t2\t$TMP/three.csv
%s and %d\t%s, und\tplaceholders\t3\t$TMP/three.csv
empty\t\tempty_side\t4\t$TMP/three.csv
"
grep -Eq '^  pairs +6$' "$TMP/out" || fail "pairs of three files: $(cat "$TMP/out")"
grep -q "^$TMP/three.csv  *2\$" "$TMP/out" || fail "pairs of a file: $(cat "$TMP/out")"
grep -q "^  repeated pairs  *2  $TMP/two.jsonl: line 2; $TMP/three.csv: line 2\$" "$TMP/out" ||
    fail "lines of files: $(cat "$TMP/out")"
expect 0 clean --json "$TMP/one.tsv" "$TMP/two.jsonl" "$TMP/three.csv" --clean "$TMP/clean.tsv" \
    --split-off "$TMP/part.tsv=2"
has() { grep -Fq "$1" "$TMP/out" || fail "no $1 in $(cat "$TMP/out")"; }
has "{\"file\": \"$TMP/two.jsonl\", \"pairs\": 2},"
has "\"repeated_pairs\": {\"count\": 2, \"files\": [{\"file\": \"$TMP/two.jsonl\", \"lines\": [2]}, {"
has "{\"file\": \"$TMP/part.tsv\", \"pairs\": 2}]"
rows part.tsv 3
expect 2 clean "$TMP/one.tsv" "$TMP/two.jsonl" --clean "$TMP/two.jsonl"
says "would overwrite"
printf '\0\0\0\0\0\0\0\0' >"$TMP/model.safetensors"
expect 2 clean "$TMP/one.tsv" "$TMP/model.safetensors"
says "does not contain sentence pairs"
expect 1 clean "$TMP/one.tsv" "$TMP/none.tsv"
says "cannot find"

# Errors leave no file.
awk 'BEGIN { for (i = 1; i <= 100; i++) print (i < 99 ? "a" : i) "\t" i }' >"$TMP/one_source.tsv"
expect 3 clean "$TMP/one_source.tsv" --clean "$TMP/new.tsv" --split-off "$TMP/v.tsv=20"
says "instead of 20: 98 pairs have the same source"
expect 3 clean "$TMP/pairs.tsv" --clean "$TMP/new.tsv" --split-off "$TMP/v.tsv=3000"
says "need all 3000 pairs"
expect 3 clean "$TMP/many.tsv" --clean "$TMP/new.tsv" --drop punctuation
says "no pair is left"
expect 2 clean "$TMP/pairs.tsv" --clean "$TMP/pairs.tsv"
says "would overwrite"
expect 2 clean "$TMP/pairs.tsv" --clean "$TMP/new.tsv" --split-off "$TMP/new.tsv=3"
says "would overwrite"
cut -f 1 "$TMP/pairs.tsv" >"$TMP/p.en"
cut -f 2 "$TMP/pairs.tsv" >"$TMP/p.fr"
expect 2 clean --languages en-fr "$TMP/p.{}" --clean "$TMP/p.fr"
says "would overwrite"
expect 2 clean "$TMP/pairs.tsv" --clean -
says "standard output"
expect 2 clean "$TMP/pairs.tsv" --clean "$TMP/new.tsv" --split-off valid=x
says "is not FILE=N"
expect 2 clean "$TMP/pairs.tsv" --split-off "$TMP/v.tsv=3"
says "clean"
expect 2 clean "$TMP/pairs.tsv" --clean "$TMP/new.tsv" --drop placeholder
says "placeholders"
expect 1 clean "$TMP/pairs.tsv" --clean "$TMP/none/new.tsv"
for file in new.tsv v.tsv new.dropped.tsv; do [ ! -e "$TMP/$file" ] || fail "$file is there"; done
