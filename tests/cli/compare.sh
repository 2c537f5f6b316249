#!/bin/sh
# compare.sh - the scripts that measure for README.md still run: with budgets of seconds, which measure nothing.
# slow
# not sanitized
set -eu
TMP=${TMP:?an empty folder}
. tests/cli/tiny_model.inc
command -v pkg-config >/dev/null && command -v "${CC:-cc}" >/dev/null || {
    echo "skipped: no compiler"
    exit 77
}

BUILD=${BUILD:-build}
case $BUILD in "$PWD"/*) BUILD=${BUILD#"$PWD"/} ;; esac # as make knows it
export BUILD
expect 0 env -u MAKEFLAGS scripts/compare-encoders --quick --json "$TMP/encoders.json" --svg "$TMP/encoders.svg"
[ "$(grep -c '^| .*| 1 | 1 |$\|^| .*| n | n |$\|^| .*| 1 | n / [35] |$' "$TMP/out")" -eq 6 ] || fail "layers: $(cat "$TMP/out")"
grep -q '</svg>' "$TMP/encoders.svg" || fail "no picture"
[ -s "$TMP/encoders.json" ] || fail "no JSON"

# Four numbers vary, each over two values; they meet in one size, and each size is trained by one thread and by two.
expect 0 env -u MAKEFLAGS scripts/bench-scaling --quick --threads 2 --json "$TMP/scaling.json" --svg "$TMP/scaling.svg"
[ "$(grep -cE '^\| [0-9,]+ \| [0-9,]+ \| [0-9,]+ \| [0-9.]+ \| [1-9][0-9]* \|$' "$TMP/out")" -eq 8 ] || fail "sizes: $(cat "$TMP/out")"
[ "$(grep -c '^<svg x=' "$TMP/scaling.svg")" -eq 6 ] || fail "not six plots"
[ "$(grep -cE '"tokens_per_second": [0-9.]+, "peak_megabytes": [0-9.]+}' "$TMP/scaling.json")" -eq 10 ] || fail "JSON: $(cat "$TMP/scaling.json")"
expect 0 env -u MAKEFLAGS scripts/bench-scaling --quick --threads 1
[ "$(grep -cE '^\| [0-9,]+ \| [0-9,]+ \| [1-9][0-9]* \|$' "$TMP/out")" -eq 8 ] || fail "one thread: $(cat "$TMP/out")"
expect 2 env -u MAKEFLAGS scripts/bench-scaling --quick --fast

expect 0 scripts/compare-attention --list
[ "$(wc -l <"$TMP/out")" -ge 53 ] || fail "only $(wc -l <"$TMP/out") variants"
expect 0 scripts/compare-attention --quick cosine-lstm-conv-conditional scaled_dot-none-self_attention-transformer
[ "$(grep -cE '^\| (cosine \| lstm \| conv|scaled_dot \| none \| self_attention) .*\| [0-9,]+ \| [0-9,]+ \|$' "$TMP/out")" -eq 2 ] ||
    fail "table: $(cat "$TMP/out")"
expect 1 scripts/compare-attention --quick nothing
says "no variant 'nothing'"
