#!/bin/sh
# compare.sh - what measures for README.md still runs: with budgets of seconds, which measure nothing.
# slow
# not sanitized
set -eu
TMP=${TMP:?an empty folder}
. tests/cli/tiny_model.inc
bench=${BUILD:-build}/bench

expect 0 "$bench" encoders --quick --seconds 1 --json "$TMP/encoders.json" --svg "$TMP/encoders.svg"
[ "$(grep -cE '^\| .*\| (1 *\| 1|n *\| n|1 *\| n / [35]) *\|$' "$TMP/out")" -eq 6 ] ||
    fail "layers: $(cat "$TMP/out")"
point=' *[0-9.]+( ±[0-9]+%)? \|'
[ "$(grep -cE "^\| [a-z, =0-9()A-Z-]+\|$point$point$" "$TMP/out")" -eq 24 ] ||
    fail "points: $(cat "$TMP/out")"
grep -q '</svg>' "$TMP/encoders.svg" || fail "no picture"
section='"section": "(time|memory) by (length|width)"'
[ "$(grep -cE "$section, .*\"median\": [0-9.e-]+, " "$TMP/encoders.json")" -eq 48 ] ||
    fail "JSON: $(cat "$TMP/encoders.json")"
expect 2 "$bench" encoders --width 30
says "--width 30 is not a multiple of 4 heads"

# Four numbers vary, each over two values; each size is trained by one thread and by two, and translates.
speed=' +[0-9,]+ ±[0-9]+% \|'
expect 0 "$bench" scaling --quick --seconds 1 --threads 2 --json "$TMP/scaling.json" --svg "$TMP/scaling.svg"
memory=' +[1-9][0-9.]* \|'
[ "$(grep -cE "^\| [0-9,]+ +\|$speed$speed +[0-9.]+ \|$memory$speed$memory$" "$TMP/out")" -eq 8 ] ||
    fail "sizes: $(cat "$TMP/out")"
power='\^-?[0-9]+\.[0-9]+'
grown="^(Growth of training|Of translation) from [0-9]+ up: time of a token $power, its"
grown="$grown arithmetic $power, memory $power\."
[ "$(grep -cE "$grown" "$TMP/out")" -eq 8 ] || fail "growth: $(cat "$TMP/out")"
[ "$(grep -c '^<svg x=' "$TMP/scaling.svg")" -eq 6 ] || fail "not six plots"
[ "$(grep -cE '"unit": "tokens/s", "better": "more", "median": [0-9.]+, ' "$TMP/scaling.json")" -eq 24 ] &&
    [ "$(grep -cE '"peak memory", "unit": "MB", .*, "median": [0-9.]+, ' "$TMP/scaling.json")" -eq 8 ] ||
    fail "JSON: $(cat "$TMP/scaling.json")"
expect 0 "$bench" scaling --quick --seconds 1 --threads 1
[ "$(grep -cE "^\| [0-9,]+ +\|$speed$memory$speed$memory$" "$TMP/out")" -eq 8 ] ||
    fail "one thread: $(cat "$TMP/out")"
expect 2 "$bench" scaling --quick --fast

printf 'words\tBLEU\tone\n' >"$TMP/table"
expect 3 "$bench" plot --input "$TMP/table" --svg "$TMP/plot.svg"
says "line 1: no table has this line"
[ ! -e "$TMP/plot.svg" ] || fail "a picture of nothing"
