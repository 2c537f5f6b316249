#!/bin/sh
# new_score.sh - adding a score function takes one section and one row of one file: the example of
# tests/example in a copy of the source.
# slow
# alone
set -eu
. tests/cli/tiny_model.inc
score=bilinear
example=tests/example/attention_$score.c table=layers/attention_scores.c
copy=$TMP/copy

for tool in make "${CC:-cc}" pkg-config diff; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

mkdir "$copy"
cp -R src Makefile "$copy"
row=$(sed -n "s/^ \* *\(ROW($score, .*)\)\$/\1/p" $example)
[ -n "$row" ] || fail "no row in $example"
row=$(printf '    %-105s\\' "$row")
ROW=$row awk -v example=$example '
    /^\/\* ---- the table ---- / { while ((getline line <example) > 0) print line; sections++ }
    { print }
    /^    ROW\(general,/ { print ENVIRON["ROW"]; rows++ }
    END { exit !(sections == 1 && rows == 1) }
' src/$table >"$copy/src/$table" || fail "no place for a section or a row in $table"

# The difference is that section and that line of one file.
status=0
LC_ALL=C diff -r -U 1 src "$copy/src" >"$TMP/diff" || status=$?
cat "$TMP/diff"
[ $status -eq 1 ] || fail "diff: status $status"
[ "$(grep -c '^--- ' "$TMP/diff")" -eq 1 ] || fail "more than one file differs"
grep -q "^--- src/$table" "$TMP/diff" || fail "not the file of the scores"
! grep -q '^Only in ' "$TMP/diff" || fail "a file more or less"
[ "$(grep -c '^@@ ' "$TMP/diff")" -eq 2 ] || fail "more than a section and a row"
! grep -v '^--- ' "$TMP/diff" | grep -q '^-' || fail "lines are gone"
grep -v '^+++ ' "$TMP/diff" | sed -n 's/^+//p' >"$TMP/added"
sed '$d' "$TMP/added" | cmp -s - $example || fail "not the section of the example"
[ "$(sed -n '$p' "$TMP/added")" = "$row" ] || fail "not the row of the score"

# No inherited make flags; optimized for compile time.
(
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD CPPFLAGS LDFLAGS
    make -C "$copy" -j1 BUILD=built WERROR=1 CFLAGS=-O1 HOT_CFLAGS=-O1 all
) >"$TMP/log" 2>&1 || {
    tail -n 20 "$TMP/log"
    fail "the copy does not build"
}

# The score is a choice of model.attention ...
! "$attn" train --help all | grep -qw "$score" || fail "the program has the score already"
attn=$copy/built/attn-mt
expect 0 "$attn" train --help all
grep -qw "$score" "$TMP/out" || fail "train --help all does not list $score"
expect 2 "$attn" train --set "model.attention=${score}x"
says "$score"
expect 0 "$attn" train --set "model.attention=$score" --dump-config
grep -q "\"attention\": \"$score\"" "$TMP/out" || fail "--dump-config: no $score"

# ... and a model with it learns its sentences.
tiny_model run --set "model.attention=$score" --set model.attention_size=24
grep -aq "\"attention\\\\*\": *\\\\*\"$score" "$TMP/run/best.safetensors" ||
    fail "the model does not name its score"
head -n 20 "$TMP/tiny.tsv" | cut -f 1 >"$TMP/source"
head -n 20 "$TMP/tiny.tsv" | cut -f 2 >"$TMP/reference"
expect 0 "$attn" translate -m "$TMP/run/best.safetensors" -i "$TMP/source" -o "$TMP/translation" --threads 1
right=$(paste "$TMP/reference" "$TMP/translation" | awk -F '\t' '$1 == $2 { n++ } END { print n + 0 }')
[ "$right" -ge 18 ] || {
    paste "$TMP/reference" "$TMP/translation"
    fail "$right of 20 sentences are right"
}
