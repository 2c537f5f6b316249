#!/bin/sh
# promise_lines.sh - lines out equal lines in: empty lines stay empty, long lines are translated in chunks,
# invalid bytes are replaced and counted.
set -eu
. tests/cli/tiny_model.inc
model=tests/golden/models/0.2.0-recurrent.safetensors
translate() { "$attn" translate -m $model "$@"; }

# Blank lines, a last line without a line end.
printf 'go .\n\n \t \n\302\240\342\200\257\nhi !' >"$TMP/blank"
translate "$TMP/blank" >"$TMP/out"
printf 'va !\n\n \t \n\302\240\342\200\257\nsalut !\n' | cmp -s - "$TMP/out" ||
    fail "blank lines, last line without an end"
# A line of 34 MB of spaces is longer than a buffer, but blank.
{ echo 'go .' && head -c 34000000 /dev/zero | tr '\0' ' ' && printf '\nhi !\n'; } >"$TMP/blanks"
translate "$TMP/blanks" | tr -d ' ' >"$TMP/out"
printf 'va!\n\nsalut!\n' | cmp -s - "$TMP/out" || fail "a line of blanks: $(head -c 100 "$TMP/out")"
rm "$TMP/blanks"
printf '' | translate >"$TMP/out"
[ ! -s "$TMP/out" ] || fail "output from nothing"
printf '\357\273\277go .\r\nhi !\r\n' | translate >"$TMP/out"
printf 'va !\nsalut !\n' | cmp -s - "$TMP/out" || fail "byte-order mark and CRLF"
printf 'go\000 .\nhi \377!\nhi\342\200\250there\302\205!\014\n' >"$TMP/odd"
expect 0 translate "$TMP/odd"
says "2 lines have invalid UTF-8 or NUL bytes, the first is line 1"
[ "$(wc -l <"$TMP/out")" -eq 3 ] || fail "odd bytes change the number of lines"

# Long lines are translated in chunks, or cropped; with a warning.
{ yes 'go . run !' | head -n 300 | tr '\n' ' ' && echo && echo 'go .'; } >"$TMP/long"
expect 0 translate --max-input-length 20 "$TMP/long"
says "line 1 is longer than 20 tokens: translated in"
[ "$(wc -l <"$TMP/out")" -eq 2 ] || fail "long lines change the number of lines"
[ "$(sed -n 2p "$TMP/out")" = "va !" ] || fail "the line after a long one"
[ "$(head -n 1 "$TMP/out" | wc -w)" -gt 100 ] || fail "most of the long line was dropped"
expect 0 translate --max-input-length 20 --max-length-crop "$TMP/long"
says "line 1 is longer than 20 tokens: cropped"
[ "$(head -n 1 "$TMP/out" | wc -w)" -lt 100 ] || fail "the long line was not cropped"
expect 0 translate --quiet --max-input-length 20 "$TMP/long"
[ ! -s "$TMP/err" ] || fail "--quiet is not quiet"
head -c 1000000 /dev/zero | tr '\0' x >"$TMP/huge"
expect 0 translate -b 1 --max-length-crop "$TMP/huge"
[ "$(wc -l <"$TMP/out")" -eq 1 ] || fail "a word of a million letters"
