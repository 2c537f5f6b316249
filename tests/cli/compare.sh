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

# BLEU against length: groups of like lengths, all held-out sentences, a picture of both models.
expect 0 scripts/compare-lengths --quick
[ "$(grep -cE '^\| [0-9]+( to [0-9]+)? \| [0-9]+ \|( -?[0-9.]+ \|){3}$' "$TMP/out")" -eq 6 ] &&
    grep -q '^| all | 500 |' "$TMP/out" || fail "lengths: $(cat "$TMP/out")"
grep -q '</svg>' runs/lengths-quick/lengths.svg || fail "no picture of lengths"
expect 1 scripts/compare-lengths nothing
says "no corpus 'nothing'"
printf 'words\tBLEU\tone\n' >"$TMP/table"
expect 3 "$bench" plot --input "$TMP/table" --svg "$TMP/plot.svg"
says "line 1: no table has this line"
[ ! -e "$TMP/plot.svg" ] || fail "a picture of nothing"

expect 0 scripts/compare-attention --list
[ "$(wc -l <"$TMP/out")" -ge 53 ] || fail "only $(wc -l <"$TMP/out") variants"
expect 0 scripts/compare-attention --quick cosine-lstm-conv-conditional \
    scaled_dot-none-self_attention-transformer
variants='cosine \| lstm \| conv|scaled_dot \| none \| self_attention'
[ "$(grep -cE "^\| ($variants) .*\| [0-9,]+ \| [0-9,]+ \|$" "$TMP/out")" -eq 2 ] ||
    fail "table: $(cat "$TMP/out")"
expect 1 scripts/compare-attention --quick nothing
says "no variant 'nothing'"

sizes() {
    scripts/compare-sizes --work "$TMP/sizes" --kinds chinese --sizes 30 --test 10 --updates 2 "$@"
}
expect 0 sizes --configs "auto transformer"
[ "$(grep -cE '^\| chinese 30 \| (auto|transformer) \| 1 (\| [0-9.]* ){7}\|$' "$TMP/out")" -eq 2 ] ||
    fail "sizes: $(cat "$TMP/out")"
cp "$TMP/out" "$TMP/before"
expect 0 sizes --configs "auto transformer"
same "what is measured is measured again" "$TMP/before" "$TMP/out"
[ ! -s "$TMP/err" ] || fail "a training again: $(cat "$TMP/err")"
expect 0 sizes --configs transformer --updates 1 # another length: not what was measured
grep -qE '^\| chinese 30 \| transformer \|.* \| 1 \| [0-9]+ \|$' "$TMP/out" ||
    fail "one update: $(cat "$TMP/out")"
expect 1 sizes --configs auto --seeds none # its training fails, and says why
says "'none' is not a whole number"
expect 1 sizes --configs huge
says "no configuration 'huge'"
# Too few pairs of one kind: the others are measured all the same.
rm "$TMP/sizes/results-2.tsv"
head -n 20 "$TMP/sizes/chinese/pool.tsv" >"$TMP/pool" && mv "$TMP/pool" "$TMP/sizes/chinese/pool.tsv"
expect 0 sizes --sizes "30 10" --configs auto
says "chinese has only 20 pairs besides the held-out ones: not measured"
grep -q '^| chinese 10 | auto ' "$TMP/out" || fail "too few pairs end the measuring: $(cat "$TMP/out")"
