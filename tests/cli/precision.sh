#!/bin/sh
# precision.sh - train.precision: products of 16-bit numbers where the processor multiplies them, the same
# bytes with any number of threads and after an interruption; on other processors floats and a message.
set -eu
. tests/cli/tiny_model.inc
train() { # RUN ARGUMENT...
    run=$1
    shift
    train_begun "$run" '"embedding": 24, "hidden": 40' \
        '"max_updates": 30, "valid_every": 15, "precision": "bf16"' "$@"
}
unit=false
train rounded --threads 1
if grep -q "products of bf16" "$TMP/err"; then unit=true; else says "it trains with float32"; fi
if "$attn" --version | grep -Eq '^simd +(bf16|amx)$'; then expected=true; else expected=false; fi
[ $unit = $expected ] || fail "16-bit products: $unit instead of $expected"
slow=false
if "$attn" --version | grep -q '^simd  *bf16$' && grep -q GenuineIntel /proc/cpuinfo; then slow=true; fi
if grep -q "bf16 is slower than float32 on this processor" "$TMP/err"; then warned=true; else warned=false; fi
[ $warned = $slow ] || fail "the warning that bf16 is slower: $warned instead of $slow"
train again --threads 2 --max-updates 11
train again --threads 3 --max-updates 30 --resume
same "other threads, interrupted" "$TMP/rounded/last.safetensors" "$TMP/again/last.safetensors"

train floats --threads 1 --set train.precision=float32
if grep -q "products of bf16" "$TMP/err"; then fail "floats are reported as bf16"; fi
loss() { sed -n '$s/.*"valid_loss": *\([0-9.]*\).*/\1/p' "$TMP/$1/train.jsonl"; }
awk -v a="$(loss rounded)" -v b="$(loss floats)" 'BEGIN { exit !(b > 0 && a < 1.01 * b && b < 1.01 * a) }' ||
    fail "validation losses $(loss rounded) and $(loss floats)"
if $unit && cmp -s "$TMP/rounded/best.safetensors" "$TMP/floats/best.safetensors"; then
    fail "nothing is rounded"
fi
expect 0 "$attn" translate --model "$TMP/rounded/best.safetensors" "$TMP/valid.tsv"

# An instruction set without bf16.
ATTN_MT_SIMD=base train old --threads 1
says "it trains with float32"
ATTN_MT_SIMD=base train old-floats --threads 1 --set train.precision=float32
"$attn" inspect --tensor decoder.attention.v "$TMP/old/best.safetensors" >"$TMP/a"
"$attn" inspect --tensor decoder.attention.v "$TMP/old-floats/best.safetensors" >"$TMP/b"
same "without the instruction" "$TMP/a" "$TMP/b"

expect 2 "$attn" train --config "$TMP/begun.json" --run "$TMP/no" --set train.precision=int8
says "train.precision"
