#!/bin/sh
# variants.sh - every kind of model works like the default: the same bytes for any number of threads and
# after a resume, translations that do not depend on the batch, ensembles of different kinds, heatmaps of
# chosen layers and heads.
set -eu
. tests/cli/tiny_model.inc

head -n 300 data/train.tsv >"$TMP/train.tsv"
tail -n 16 data/valid.tsv >"$TMP/valid.tsv"
tail -n 12 data/valid.tsv | cut -f 1 >"$TMP/in"
printf '\nA.\nWe like it , and so do our friends and all of their little children .\n' >>"$TMP/in"
cat >"$TMP/base.json" <<EOF
{
  "data": {"train": ["$TMP/train.tsv"], "valid": ["$TMP/valid.tsv"]},
  "text": {"bpe_merges": 150, "min_count": 1},
  "model": {"embedding": 16, "hidden": 16, "heads": 2, "dropout_attention": 0.1},
  "train": {"epochs": 3, "batch_size": 16, "batch_window": 4, "valid_every": 8,
            "learning_rate": 0.01, "samples": 0, "stop_on": "loss"}
}
EOF
blocks="model.encoder.style=self_attention model.encoder.layers=2"

# NAME, SETTINGS: trains on one thread, and again on three threads with a stop and a resume.
try() {
    name=$1
    shift
    set -- $(for setting; do echo "--set $setting"; done)
    expect 0 "$attn" train --config "$TMP/base.json" --run "$TMP/$name" --threads 1 "$@"
    expect 0 "$attn" train --config "$TMP/base.json" --run "$TMP/again" --overwrite --threads 3 "$@" \
        --set train.max_updates=11
    expect 0 "$attn" train --config "$TMP/base.json" --run "$TMP/again" --resume --threads 2 "$@"
    for file in best last; do
        same "$name: stopped and resumed" "$TMP/$name/$file.safetensors" "$TMP/again/$file.safetensors"
    done
    [ "$(grep -c . "$TMP/$name/train.jsonl")" -ge 5 ] || fail "$name: too few validations"
    model=$TMP/$name/best.safetensors
    expect 0 "$attn" translate -m "$model" --mini-batch 1 --n-best=2 --threads 1 "$TMP/in"
    mv "$TMP/out" "$TMP/alone"
    expect 0 "$attn" translate -m "$model" --mini-batch 64 --n-best=2 --threads 2 "$TMP/in"
    same "$name: alone and in a batch" "$TMP/alone" "$TMP/out"
    expect 0 "$attn" heatmap -m "$model" -f csv -t "Nous aimons cela ." "We like it ."
    awk -F , 'NR > 1 { s = 0; for (i = 2; i <= NF; i++) s += $i
                       if (!(s > 0.99999 && s < 1.00001)) exit 1 }' "$TMP/out" ||
        fail "$name: weights do not sum to 1: $(cat "$TMP/out")"
    expect 0 "$attn" inspect "$model"
}

try lstm model.cell=lstm model.encoder.layers=2 model.decoder.layers=2 model.residual=true \
    model.attention=distance
try luong model.decoder.style=luong model.decoder.input_feeding=true model.attention=general
try textbook model.decoder.style=bahdanau model.encoder.bidirectional=false model.decoder.start=final \
    model.attention=location
try conv model.encoder.style=conv model.encoder.layers=2 model.positions=learned model.attention=cosine
try blocks $blocks model.positions=relative model.norm=post model.attention=concat
try transformer $blocks model.decoder.style=transformer model.decoder.layers=2 model.attention=scaled_dot
public="$blocks model.decoder.style=transformer model.attention=scaled_dot"
public="$public model.norm=post model.attention_bias=true"
try opus $public model.decoder.layers=2 model.activation=swish model.positions=sinusoidal_halves
try deep $public model.encoder.layers=12
try firefox $public model.decoder.layers=2 model.positions=marian model.norm_epsilon=1e-6 \
    model.decoder.autoreg=ssru
expect 2 "$attn" heatmap -m "$TMP/firefox/best.safetensors" --self-attention=decoder "We like it ."
says "no self-attention, but SSRUs"
try argos $public model.norm=pre model.add_source_eos=false model.activation=gelu

# An ensemble of different kinds of models.
expect 0 "$attn" translate -m "$TMP/transformer/best.safetensors" -m "$TMP/lstm/best.safetensors" \
    -m "$TMP/conv/best.safetensors" "$TMP/in"
[ "$(wc -l <"$TMP/out")" -eq "$(wc -l <"$TMP/in")" ] || fail "an ensemble loses lines"

# Single heads of a Transformer average to the mean map; a recurrent decoder has one head.
heat() {
    expect 0 "$attn" heatmap -m "$TMP/transformer/best.safetensors" -f csv -t "Nous aimons cela ." "$@" \
        "We like it ."
}
heat --layer 2
cp "$TMP/out" "$TMP/mean"
for head in 1 2; do heat --layer 2 --head $head && cp "$TMP/out" "$TMP/head.$head"; done
! cmp -s "$TMP/head.1" "$TMP/head.2" || fail "both heads are the same"
paste -d , "$TMP/mean" "$TMP/head.1" "$TMP/head.2" | awk -F , '
    NR > 1 { n = NF / 3
             for (i = 2; i <= n; i++) {
                 d = $i - ($(n + i) + $(2 * n + i)) / 2
                 if (!(d < 1e-5 && d > -1e-5)) exit 1
             } }' ||
    fail "the mean is not the mean of the heads"
expect 2 "$attn" heatmap -m "$TMP/transformer/best.safetensors" --layer 3 "We like it ."
says "no layer 3: the cross-attention has 2 layers with 2 heads"
expect 2 "$attn" heatmap -m "$TMP/lstm/best.safetensors" --head 2 "We like it ."
says "no head 2: the cross-attention has 1 layer with 1 head"

# A resume with another configuration is refused; the message names the key.
expect 2 "$attn" train --config "$TMP/base.json" --run "$TMP/conv" --resume --set model.encoder.style=rnn
says "model.encoder.style was \"conv\", now it is \"rnn\""
