#!/bin/sh
# no_attention.sh - a recurrent model without attention, and one that looks at its own earlier words: train,
# resume, translate, vote, and draw what there is to draw.
set -eu
. tests/cli/tiny_model.inc
tiny_model plain --set model.attention=none
tiny_model self --set model.attention=none --set model.decoder.self_attention=true
tiny_model seeing
plain=$TMP/plain/best.safetensors self=$TMP/self/best.safetensors seeing=$TMP/seeing/best.safetensors

# Both know their sentences, alone and in a vote with any other.
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

# Where the source of a term is looked at is known of models with attention, and asked without drawing it.
printf 'i\tperdu\n' >"$TMP/glossary"
for model in "$plain" "$seeing"; do
    expect 0 "$attn" translate -m "$model" --glossary "$TMP/glossary" "$TMP/source"
    cp "$TMP/out" "$TMP/terms"
    sed -n 2p "$TMP/out" | grep -qw perdu || fail "a term of $model: $(cat "$TMP/out")"
done
expect 0 "$attn" translate -m "$seeing" --glossary "$TMP/glossary" --alignment "$TMP/source"
sed 's/ |||.*//' "$TMP/out" >"$TMP/drawn"
same "terms and alignment" "$TMP/terms" "$TMP/drawn"

# Stopped and resumed it ends with the same bytes.
for kind in plain self; do
    options="--set model.attention=none --set train.schedule=constant --set train.epochs=30"
    [ $kind = plain ] || options="$options --set model.decoder.self_attention=true"
    # shellcheck disable=SC2086  # a list of options
    tiny_model whole $options --overwrite
    # shellcheck disable=SC2086
    tiny_model part $options --after-updates 150 --overwrite
    # shellcheck disable=SC2086
    tiny_model part $options --resume
    same "resumed $kind" "$TMP/whole/best.safetensors" "$TMP/part/best.safetensors"
done

# Nothing to draw, said before any input is read.
for command in heatmap "translate --alignment" "translate --attention" "translate --tags"; do
    # shellcheck disable=SC2086  # a command and an option
    expect 2 "$attn" $command -m "$plain" </dev/null
    says 'the model has no attention (model.attention = "none")'
done
expect 2 "$attn" translate --alignment -m "$plain" -m "$seeing" "$TMP/source"
says "the attention of the first one counts"
expect 0 "$attn" translate --alignment -m "$seeing" -m "$plain" "$TMP/source"
grep -q '||| [0-9]*-[0-9]' "$TMP/out" || fail "no alignment: $(cat "$TMP/out")"
expect 0 "$attn" translate --json --alternatives 2 -m "$plain" "$TMP/source"

# Earlier words on both sides: nothing on and above the diagonal, and rows that sum to 1 but for the first.
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
says "does not show --self-attention"
expect 2 "$attn" heatmap --self-attention -m "$seeing" "he's calm ."
says "does not look at its own earlier words"
says "model.decoder.self_attention=true"
