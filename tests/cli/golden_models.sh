#!/bin/sh
# golden_models.sh - models of every release load and give the same translations. A release adds its models
# to tests/golden/models: NAME.safetensors, and NAME.txt, the translations of source.txt, greedy and with a
# beam.
set -eu
. tests/cli/tiny_model.inc

models=tests/golden/models
count=0
for model in $models/*.safetensors; do
    for options in "" "--beam-size 1" "--precision bf16" "--precision int8" "--threads 3 --mini-batch 1"; do
        # shellcheck disable=SC2086  # the options are words
        expect 0 "$attn" translate --quiet --model "$model" $options $models/source.txt
        same "$model $options: other translations" "${model%.safetensors}.txt" "$TMP/out"
    done
    expect 0 "$attn" inspect "$model"
    grep -q '^  program  *attn-mt 0\.' "$TMP/out" || fail "inspect $model"
    count=$((count + 1))
done
[ $count -ge 4 ] || fail "$count models"
