#!/bin/sh
# bench.sh - the benchmark runs through all its parts, and its JSON is valid. No check of speed.
set -eu
TMP=${TMP:?an empty folder}
. tests/cli/tiny_model.inc
bench=${BUILD:-build}/bench
mkdir "$TMP/temporary"
export TMPDIR="$TMP/temporary"

head -n 64 data/textbook.tsv >"$TMP/pairs.tsv"
small="--config configs/bench-bidirectional.json
    --set data.train=$TMP/pairs.tsv --set data.valid=$TMP/pairs.tsv
    --set model.hidden=16 --set model.embedding=16"
measure() { # NAME OPTION...
    name=$1
    shift
    expect 0 "$bench" --quick --seconds 5 --program "$attn" --json "$TMP/$name.json" $small \
        --set train.batch_size=64 "$@"
    mv "$TMP/out" "$TMP/$name.txt"
}
medians() { sed 's/.*"median": \([^,]*\),.*/\1/'; }
# value FILE SECTION ITEM METRIC UNIT: its median
value() {
    grep -F "\"section\": \"$2\", \"item\": \"$3\", \"metric\": \"$4\", \"unit\": \"$5\"" "$1" | medians
}
# positive NAME SECTION ITEM METRIC UNIT
positive() {
    value "$TMP/$1.json" "$2" "$3" "$4" "$5" | awk '$1 > 0 { n++ } END { exit n != 1 }' ||
        fail "$1: no $2, $3, $4, $5"
}

measure one --threads 1
measure two --threads 2 --config configs/bench-2layer.json
for title in 'Products of matrices' 'GEMM peak' Ops Training Translation Latency Start Memory; do
    grep -q "^$title" "$TMP/one.txt" || fail "no table '$title'"
done
[ "$(grep -c '"section": "gemm", ' "$TMP/one.json")" -ge 18 ] || fail "few products"
[ "$(grep -c '"section": "ops", .*"unit": "ns"' "$TMP/one.json")" -eq 51 ] ||
    fail "each op has a forward, all but the loss a backward"
for format in BLAS float32 bf16x3 bf16 int8; do positive one 'gemm peak' $format '1 thread' GFLOP/s; done
positive one ops gru forward ns
positive one training '1 thread' target tokens/s
positive one translation 'beam 5, 1 thread' speed sentences/s
positive one latency 'beam 1, one at a time, 1 thread' '99th percentile' ms
positive one start 'process to first translation' time ms
for name in 'training' 'translation, beam 5, 64 together'; do positive one memory "$name" peak MB; done
positive two training '2 threads' 'of the GEMM peak' %
positive two translation 'beam 1, 2 threads' made tokens/s
grep -q '2 threads' "$TMP/one.json" && fail "one thread was asked for"
[ -z "$(ls "$TMPDIR")" ] || fail "temporary files stay: $(ls "$TMPDIR")"

# Operations of the bidirectional model of 16 units on the whole corpus, computed by hand: every word of
# these pairs is a token, and each sentence has its </s>
V=$(sed -n 's/.*"target_vocabulary": \([0-9]*\).*/\1/p' "$TMP/one.json")
awk -F '\t' -v V="$V" -v got="$(value "$TMP/one.json" training '1 thread' work MFLOP/token)" '
    { s = split($1, words, " ") + 1; t = split($2, words, " ") + 1; S += s; T += t; pairs += s * t }
    END {
        H = 16; gates = 3 * H; source = 2 * (2 * H * gates) + 2 * H * H
        target = H * H + 2 * H * gates + 2 * H * gates + (H + 2 * H + H) * H + V * H
        expected = 6 * (source * S + target * T + 2 * H * H * NR + (H + 2 * H) * pairs) / T / 1e6
        if (got / expected < 0.999999 || got / expected > 1.000001) {
            print "useful work " got " instead of " expected
            exit 1
        }
    }' "$TMP/pairs.tsv" || fail "useful work"

# a model that exists, instead of training
tiny_model known
cut -f 1 "$TMP/tiny.tsv" >"$TMP/lines.txt"
known="--model $TMP/known/best.safetensors --input $TMP/lines.txt"
expect 0 "$bench" --quick --seconds 5 --program "$attn" --threads 1 --json "$TMP/known.json" $known
grep -q '^Training' "$TMP/out" && fail "nothing was to be trained"
positive known translation 'beam 1, 1 thread' made tokens/sentence
expect 2 "$bench" --quick --model "$TMP/known/best.safetensors"
says "no lines to translate"

# Subcommands: one or several.
expect 0 "$bench" latency --quick --seconds 5 --threads 1 $small
grep -q '^Model that translates' "$TMP/out" || fail "a model to translate with was needed: $(cat "$TMP/out")"
grep -qE '^(Products|Ops|Training|Translation|Start)' "$TMP/out" &&
    fail "only latency was asked for: $(cat "$TMP/out")"
expect 0 "$bench" gemm ops --quick --seconds 5 $small
grep -q '^Products' "$TMP/out" && grep -q '^Ops' "$TMP/out" || fail "two subcommands: $(cat "$TMP/out")"
grep -qE '^(Training|Translation|Start)' "$TMP/out" &&
    fail "only two subcommands were given: $(cat "$TMP/out")"
expect 2 "$bench" gem --quick
says "unexpected argument 'gem'"
expect 0 "$bench" --help
for name in gemm ops training translation latency start memory all; do
    grep -q "^  $name  *[a-z]" "$TMP/out" || fail "--help does not list $name"
done
expect 2 "$bench" --quick
says "neither a configuration with data nor a model"
expect 1 "$bench" --quick --seconds 5 --threads 1 $known --program /bin/false
says "'/bin/false' failed (1)"
