#!/bin/sh
# unseen.sh - unknown characters and words are counted, and pictures show the original text.
set -eu
. tests/cli/tiny_model.inc
tiny_model one --set train.epochs=1
tiny_model suffix --set train.epochs=1 --set text.bpe_marker=suffix --set text.joint=false \
    --set model.tie=target
tiny_model words --set train.epochs=1 --set text.tokenizer=word --set text.lowercase=true

printf 'go .\nhi 字字 !\nhiж .\n' >"$TMP/in"
for name in one suffix; do
    expect 0 "$attn" translate -m "$TMP/$name/best.safetensors" "$TMP/in"
    says "1 word that the model cannot spell (first: '字字', line 2): copied"
    sed -n 2p "$TMP/out" | grep -q 字字 || fail "an unknown word: $(cat "$TMP/out")"
    [ "$(sed -n 3p "$TMP/out")" = 'hiж .' ] || fail "nothing but an unknown word: $(cat "$TMP/out")"
    [ "$(wc -l <"$TMP/err")" -eq 1 ] || fail "reported more than once: $(cat "$TMP/err")"
    expect 0 "$attn" translate -q -m "$TMP/$name/best.safetensors" "$TMP/in"
    [ ! -s "$TMP/err" ] || fail "--quiet is not quiet"

    # Each token has its own text, and words have their original text.
    expect 0 "$attn" heatmap -m "$TMP/$name/best.safetensors" -f csv --level word "字hi жgo 字."
    says "3 characters that the model never saw (first: '字'): read as <unk>"
    [ "$(head -n 1 "$TMP/out")" = ",字hi,жgo,字.,</s>" ] || fail "$name: $(head -n 1 "$TMP/out")"
    expect 0 "$attn" heatmap -m "$TMP/$name/best.safetensors" -f csv -t "va 字 !" "ж go"
    head -n 1 "$TMP/out" | grep -q "ж" || fail "$name: $(head -n 1 "$TMP/out")"
    cut -d , -f 1 "$TMP/out" | grep -q "字" || fail "$name, a given translation: $(cat "$TMP/out")"
    ! grep -q "<unk>" "$TMP/out" || fail "$name: <unk> instead of what was typed"
done

# The warning for a page, printed once if there are also pictures.
for format in html html,csv; do
    expect 0 "$attn" heatmap -m "$TMP/one/best.safetensors" -f $format -o "$TMP/page" "go 字 ."
    says "1 character that the model never saw (first: '字'): read as <unk>"
    [ "$(grep -c "never saw" "$TMP/err")" -eq 1 ] || fail "$format: more than one warning: $(cat "$TMP/err")"
done

# A repeated piece is from the cache.
expect 0 "$attn" heatmap -m "$TMP/one/best.safetensors" -f csv --level word "字 字 go 字 go"
[ "$(head -n 1 "$TMP/out")" = ",字,字,go,字,go,</s>" ] || fail "again: $(head -n 1 "$TMP/out")"

expect 0 "$attn" translate -m "$TMP/words/best.safetensors" "$TMP/in"
says "2 words that the model does not know (first: '字字', line 2)"
expect 0 "$attn" heatmap -m "$TMP/words/best.safetensors" -f csv "Go zebra !"
says "1 word that the model does not know (first: 'zebra'): read as <unk>"
[ "$(head -n 1 "$TMP/out")" = ",go,zebra,!,</s>" ] || fail "words: $(head -n 1 "$TMP/out")"

# In JSON.
expect 0 "$attn" translate -q --json -m "$TMP/words/best.safetensors" "$TMP/in"
grep -qF '"source_tokens": ["hi", "字字", "!"]' "$TMP/out" || fail "JSON of words: $(cat "$TMP/out")"

# Invalid bytes have their own warning.
printf 'go \377.\n' >"$TMP/odd"
expect 0 "$attn" translate -m "$TMP/one/best.safetensors" "$TMP/odd"
says "invalid UTF-8 or NUL bytes"
! grep -q "never saw" "$TMP/err" || fail "counted twice: $(cat "$TMP/err")"
expect 0 "$attn" translate -m "$TMP/one/best.safetensors" "$TMP/tiny.tsv"
! grep -q "never saw" "$TMP/err" || fail "known text: $(cat "$TMP/err")"
