#!/bin/sh
# promise_threads.sh - training gives the same bytes with any number of threads, for each kind of model and
# batch, also after a resume.
set -eu
. tests/cli/tiny_model.inc
head -n 300 data/train.tsv >"$TMP/train.tsv"
head -n 8 data/valid.tsv >"$TMP/valid.tsv"
recipe() { # NAME MODEL TRAIN [FILE DATA]: members of these sections, and the training pairs
    cat >"$TMP/$1.json" <<END
{
  "data": {"train": ["$TMP/${4:-train}.tsv"], "valid": ["$TMP/valid.tsv"]${5:-}},
  "text": {"bpe_merges": 200, "min_count": 1},
  "model": {"embedding": 12, "hidden": 12, "dropout_embedding": 0.2, "dropout_encoder": 0.2,
            "dropout_output": 0.2, $2},
  "train": {"epochs": 0, "max_updates": 6, "warmup": 2, "valid_every": 9, "samples": 0$3}
}
END
}
recipe recurrent '"cell": "lstm"' ', "batch_size": 150'
recipe transformer '"encoder": {"style": "self_attention"}, "decoder": {"style": "transformer"},
            "attention": "scaled_dot"' ', "batch_size": 150'
recipe several '"cell": "gru"' ', "accumulate": 3, "batch_size": 40'
recipe tokens '"cell": "gru"' ', "batch_unit": "tokens", "batch_size": 2000'
awk -F '\t' '{ print $1 " %s {0}\t{0} " $2 " %s" }' "$TMP/train.tsv" >"$TMP/marked.tsv"
recipe placeholders '"cell": "gru"' '' marked ', "placeholders": true'
train() { # RECIPE RUN ARGUMENT...
    name=$1 run=$2
    shift 2
    expect 0 "$attn" train --config "$TMP/$name.json" --run "$TMP/$run" "$@"
}
for name in recurrent transformer several tokens placeholders; do
    train $name $name --threads 1
    grep -Eq 'a batch is cut into about [0-9]+ parts' "$TMP/err" || fail "$name: parts: $(cat "$TMP/err")"
    for threads in 2 3 4 8 16; do
        train $name other --threads $threads --overwrite
        for file in last best; do
            same "$name with $threads threads: $file" "$TMP/$name/$file.safetensors" \
                "$TMP/other/$file.safetensors"
        done
    done
    train $name broken --threads 3 --max-updates 2
    train $name broken --threads 5 --max-updates 6 --resume
    same "$name, interrupted" "$TMP/$name/last.safetensors" "$TMP/broken/last.safetensors"
    rm -r "$TMP/broken"
done
! cmp -s "$TMP/recurrent/last.safetensors" "$TMP/several/last.safetensors" || fail "all recipes are one"
for name in recurrent placeholders; do
    expect 0 "$attn" inspect "$TMP/$name/last.safetensors"
    reserved=$(grep -c '^  reserved  *8 tokens' "$TMP/out" || true)
    [ "$name $reserved" = "recurrent 0" ] || [ "$name $reserved" = "placeholders 1" ] ||
        fail "$name: $reserved lines about reserved tokens"
done
