#!/bin/sh
# no_attention.sh - a recurrent model without attention, one with self-attention in the decoder, and a
# Transformer: train, resume, translate, ensembles, heatmaps.
set -eu
. tests/cli/tiny_model.inc
tiny_model plain --set model.attention=none
tiny_model self --set model.attention=none --set model.decoder.self_attention=true
tiny_model seeing
plain=$TMP/plain/best.safetensors self=$TMP/self/best.safetensors seeing=$TMP/seeing/best.safetensors

# Both models memorize their sentences, alone and in ensembles.
cut -f 1 "$TMP/tiny.tsv" | head -n 4 >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" | head -n 4 >"$TMP/target"
for models in "$plain" "$self" "$plain:$seeing" "$seeing:$plain" "$plain:$self"; do
    # shellcheck disable=SC2086  # a list of options
    expect 0 "$attn" translate -m ${models%:*} -m ${models#*:} "$TMP/source"
    same "translations of $models" "$TMP/target" "$TMP/out"
done
expect 0 "$attn" score -m "$self" "$TMP/source" "$TMP/target"
expect 0 "$attn" translate -m "$self" --precision int8 -b 1 "$TMP/source"
[ "$(wc -l <"$TMP/out")" -eq 4 ] || fail "int8: $(cat "$TMP/out")"

# Glossaries use the attention of the models that have it.
printf 'i\tperdu\n' >"$TMP/glossary"
for model in "$plain" "$seeing"; do
    expect 0 "$attn" translate -m "$model" --glossary "$TMP/glossary" "$TMP/source"
    cp "$TMP/out" "$TMP/terms"
    sed -n 2p "$TMP/out" | grep -qw perdu || fail "a term of $model: $(cat "$TMP/out")"
done
expect 0 "$attn" translate -m "$seeing" --glossary "$TMP/glossary" --alignment "$TMP/source"
sed 's/ |||.*//' "$TMP/out" >"$TMP/drawn"
same "terms and alignment" "$TMP/terms" "$TMP/drawn"

# A resumed training ends with the same bytes.
for kind in plain self; do
    options="--set model.attention=none --set train.schedule=constant --set train.epochs=30"
    [ $kind = plain ] || options="$options --set model.decoder.self_attention=true"
    # shellcheck disable=SC2086  # a list of options
    tiny_model whole $options --overwrite
    # shellcheck disable=SC2086
    tiny_model part $options --max-updates 150 --overwrite
    # shellcheck disable=SC2086
    tiny_model part $options --resume
    same "resumed $kind" "$TMP/whole/best.safetensors" "$TMP/part/best.safetensors"
done

# Without attention, heatmap fails before it reads input.
for command in heatmap "translate --alignment" "translate --attention"; do
    # shellcheck disable=SC2086  # a command and an option
    expect 2 "$attn" $command -m "$plain" </dev/null
    says 'the model has no attention (model.attention = "none")'
done
expect 2 "$attn" translate --alignment -m "$plain" -m "$seeing" "$TMP/source"
says "the attention of the first one counts"
expect 0 "$attn" translate --alignment -m "$seeing" -m "$plain" "$TMP/source"
grep -q '||| [0-9]*-[0-9]' "$TMP/out" || fail "no alignment: $(cat "$TMP/out")"
expect 0 "$attn" translate --json --alternatives 2 -m "$plain" "$TMP/source"

# Attention to earlier words: zero on and above the diagonal; rows sum to 1 except the first.
expect 0 "$attn" heatmap --self-attention -f csv -m "$self" "i'm home ."
awk -F , '
    NR == 1 { labels = $0 }
    NR > 1 {
        s = 0
        for (i = 2; i <= NF; i++) { s += $i; if (i >= NR && $i != 0) bad = 1 }
        if (NR == 2 ? s != 0 : (s < 0.99999 || s > 1.00001)) bad = 1
    }
    END { exit bad || NR != NF }' "$TMP/out" || fail "table: $(cat "$TMP/out")"
expect 0 "$attn" heatmap --self-attention --level word -f csv -t "il est calme ." -m "$self" "he's calm ."
[ "$(head -n 1 "$TMP/out")" = ",il,est,calme,.,</s>" ] || fail "columns: $(cat "$TMP/out")"
expect 0 "$attn" heatmap --self-attention -o "$TMP/self" -m "$self" "he's calm ."
says "wrote $TMP/self.svg"
expect 0 "$attn" heatmap --self-attention -f json -m "$self" "he's calm ."
grep -q '"decoder.self_attention.weights"' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
expect 2 "$attn" heatmap --self-attention -f html -m "$self" "he's calm ."
says "'Layers and heads' shows it"
expect 2 "$attn" heatmap --self-attention -m "$seeing" "he's calm ."
says "the decoder of this model has no self-attention"
says "model.decoder.self_attention=true"
expect 2 "$attn" heatmap --self-attention --layer 2 -m "$self" "he's calm ."
says "no layer 2: the self-attention of the decoder has 1 layer with 1 head"

# Self-attention of a Transformer on both sides. The pictures are means of the maps in the JSON; tokens of the
# decoder attend to themselves and earlier tokens.
tiny_model blocks --set train.epochs=4 --set model.tie=none --set model.encoder.style=self_attention \
    --set model.attention=scaled_dot --set model.decoder.style=transformer --set model.encoder.layers=2 \
    --set model.decoder.layers=2
blocks=$TMP/blocks/best.safetensors
expect 2 "$attn" heatmap --self-attention=encoder -m "$seeing" "he's calm ."
says "the encoder of this model has no self-attention"
expect 2 "$attn" heatmap --self-attention=encoder --head 5 -m "$blocks" "he's calm ."
says "no head 5: the self-attention of the encoder has 2 layers with 4 heads"
expect 0 "$attn" heatmap -f json -m "$blocks" -t "il est calme ." "he's calm ."
cp "$TMP/out" "$TMP/json"
# note NAME: its numbers, a matrix after the other
note() { tr -d ' \n' <"$TMP/json" | sed "s/.*\"$1\":\[\[\[//; s/\]\]\].*//" | tr -s '[],' '\n' | grep .; }
for side in encoder decoder; do
    for level in subword word; do
        expect 0 "$attn" heatmap --self-attention=$side --level $level -f csv -m "$blocks" \
            -t "il est calme ." "he's calm ."
        cp "$TMP/out" "$TMP/$side.$level"
    done
    awk -F , 'NR > 1 { for (i = 2; i <= NF; i++) print $i }' "$TMP/$side.subword" >"$TMP/expected"
    { note "$side.0.self.weights" && note "$side.1.self.weights"; } |
        awk -v n="$(wc -l <"$TMP/expected")" '{ sum[(NR - 1) % n] += $1 }
            END { for (i = 0; i < n; i++) print sum[i] * n / NR; exit NR != 8 * n }' >"$TMP/mean"
    paste "$TMP/expected" "$TMP/mean" | awk '{ d = $1 - $2; if (NF != 2 || d > 1e-5 || d < -1e-5) exit 1 }' ||
        fail "self-attention of the $side: $(paste "$TMP/expected" "$TMP/mean")"
    awk -F , 'NR > 1 { s = 0; for (i = 2; i <= NF; i++) s += $i; if (s < 0.9999 || s > 1.0001) exit 1 }' \
        "$TMP/$side.word" || fail "rows of the $side: $(cat "$TMP/$side.word")"
done
[ "$(head -n 1 "$TMP/encoder.word")" = ",he's,calm,.,</s>" ] || fail "columns: $(cat "$TMP/encoder.word")"
[ "$(head -n 1 "$TMP/decoder.word")" = ",<s>,il,est,calme,." ] || fail "columns: $(cat "$TMP/decoder.word")"
[ "$(cut -d , -f 1 "$TMP/decoder.word" | tr '\n' ' ')" = " il est calme . </s> " ] ||
    fail "rows: $(cat "$TMP/decoder.word")"
