#!/bin/sh
# new_score.sh - adding a score function takes one file and one row: the example of tests/example in a copy of the source.
# slow
set -eu
. tests/cli/tiny_model.inc
score=bilinear formula='(A q) . (B k) / sqrt(a)'
copy=$TMP/copy

for tool in make "${CC:-cc}" pkg-config diff; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

mkdir "$copy"
cp -R src Makefile "$copy"
cp tests/example/score_$score.c "$copy/src/layers/"
row=$(printf '    %-105s\\' "ROW($score, \"$formula\")") awk '
    { print } /^    ROW\(general,/ { print ENVIRON["row"]; rows++ } END { exit rows != 1 }
' src/layers/scores.h >"$copy/src/layers/scores.h" || fail "no place for a row in scores.h"

# The difference is one file and one line.
status=0
LC_ALL=C diff -r -U 1 src "$copy/src" >"$TMP/diff" || status=$?
cat "$TMP/diff"
[ $status -eq 1 ] || fail "diff: status $status"
[ "$(grep -c '^Only in ' "$TMP/diff")" -eq 1 ] || fail "more than one file"
grep -q "^Only in $copy/src/layers: score_$score.c\$" "$TMP/diff" || fail "not the file of the score"
changed=$(grep -v -e '^--- ' -e '^+++ ' "$TMP/diff" | grep -c '^[-+]' || true)
[ "$changed" -eq 1 ] || fail "$changed lines differ"
grep -q "^+    ROW($score, " "$TMP/diff" || fail "not the row of the score"

# Nobody else's make flags; quick to compile rather than quick to run.
(
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD CPPFLAGS LDFLAGS
    make -C "$copy" -j1 BUILD=built WERROR=1 CFLAGS=-O1 HOT_CFLAGS=-O1 all
) >"$TMP/log" 2>&1 || {
    tail -n 20 "$TMP/log"
    fail "the copy does not build"
}

# It is a choice like any other ...
! "$attn" train --help | grep -qw "$score" || fail "the program has the score already"
attn=$copy/built/attn-mt
expect 0 "$attn" train --help
grep -qw "$score" "$TMP/out" || fail "train --help does not list $score"
expect 2 "$attn" train --set "model.attention=${score}x"
says "$score"
expect 0 "$attn" train --set "model.attention=$score" --dump-config
grep -q "\"attention\": \"$score\"" "$TMP/out" || fail "--dump-config: no $score"

# ... and learns: the model knows its sentences by heart.
tiny_model run --set "model.attention=$score" --set model.attention_size=24
grep -aq "\"attention\\\\*\": *\\\\*\"$score" "$TMP/run/best.safetensors" || fail "the model does not name its score"
head -n 20 "$TMP/tiny.tsv" | cut -f 1 >"$TMP/source"
head -n 20 "$TMP/tiny.tsv" | cut -f 2 >"$TMP/reference"
expect 0 "$attn" translate -m "$TMP/run/best.safetensors" -i "$TMP/source" -o "$TMP/translation" --threads 1
right=$(paste "$TMP/reference" "$TMP/translation" | awk -F '\t' '$1 == $2 { n++ } END { print n + 0 }')
[ "$right" -ge 18 ] || {
    paste "$TMP/reference" "$TMP/translation"
    fail "$right of 20 sentences are right"
}
