#!/bin/sh
# convert_foreign.sh - attn-mt convert with models of other programs: the reference models (in
# $ATTN_MT_FOREIGN, or beside the repository) translate as the programs that own them.
set -eu
. tests/cli/tiny_model.inc
python=${PYTHON:-python3}
command -v "$python" >/dev/null || {
    echo "skipped: no python3, which compares the answers"
    exit 77
}

foreign=${ATTN_MT_FOREIGN:-../shared/reference/foreign}
if [ ! -d "$foreign" ]; then
    echo "skipped: no reference models in '$foreign'"
    exit 77
fi

# answers NAME FILE KIND EXCEPT TRANSLATE-OPTIONS COMPARE-OPTIONS: translations of all lines by
# $TMP/model.safetensors are those of the owner, and so are scores. EXCEPT: lines that are treated otherwise
# on purpose.
answers() {
    "$python" tests/cli/foreign_answers.py lines "$foreign/$2" "$texts" >"$TMP/source"
    # shellcheck disable=SC2086
    expect 0 "$attn" translate -m "$TMP/model.safetensors" --quiet --raw --json $5 "$TMP/source"
    # shellcheck disable=SC2086
    "$python" tests/cli/foreign_answers.py compare "$foreign/$2" "$texts" "$3" "$TMP/out" --except "$4" $6 ||
        fail "$1: $3"
}
# both NAME FILE EXCEPT TRANSLATE-OPTIONS COMPARE-OPTIONS: greedy, and a beam of 4
both() {
    answers "$1" "$2" greedy "$3" "--beam-size 1 $4" "$5"
    answers "$1" "$2" beam4 "$3" "--beam-size 4 $4" "$5"
}
texts=$foreign/opus-hf.transformers.json
model=$TMP/model.safetensors

# transformers: at most 127 tokens. Blank lines (8, 9) stay blank here; an unknown language token (18, 19) and
# the names of special tokens (20) are text.
length='--max-length-factor 0 --max-length-extra 127'
for name in opus-hf relu-hf; do
    expect 0 "$attn" convert "$foreign/$name" -o "$model"
    both "$name" "$name.transformers.json" 8,9,18,19,20 "$length --alternatives 10" --first-step
done
expect 0 "$attn" convert "$foreign/multi-hf" -o "$model"
both multi-hf multi-hf.transformers.json 8,9,18,20 "$length --alternatives 10" --first-step

# Marian: all lines.
expect 0 "$attn" convert "$foreign/opus-marian.zip" -o "$model"
both opus-marian opus-marian.marian.json '' '' ''
expect 0 "$attn" convert --precision float32 "$foreign/firefox" -o "$model"
expect 0 "$attn" inspect "$model"
grep -q 'source_language  *en$' "$TMP/out" && grep -q 'target_language  *fr$' "$TMP/out" ||
    fail "firefox: the languages are in the names of the files"
both firefox-rounded firefox-rounded.marian.json '' '' ''
mkdir "$TMP/floats"
cp "$foreign/firefox/float.npz" "$foreign"/firefox/*.spm "$TMP/floats"
expect 0 "$attn" convert "$TMP/floats" -o "$model"
both firefox-float firefox-float.marian.json '' '' ''

# CTranslate2: at most 256 tokens, and no </s> at first, which raises its scores. Its pieces of lines 18 to 20
# are those of transformers. It may write <s>, which takes a place in the beam of line 24 of Argos' model.
length='--max-length-factor 0 --max-length-extra 256 --alternatives 1000'
pieces="--sentencepiece $foreign/opus-hf/source.spm --target-sentencepiece $foreign/opus-hf/target.spm"
# shellcheck disable=SC2086
expect 0 "$attn" convert "$foreign/opus-ct2-float32" $pieces -o "$model"
both opus-ct2-float32 opus-ct2-float32.json 18,19,20 "$length" --no-end-first
expect 0 "$attn" convert "$foreign/argos-float32.zip" -o "$model"
answers argos argos-float32.json greedy '' "--beam-size 1 $length" --no-end-first
answers argos argos-float32.json beam4 24 "--beam-size 4 $length" --no-end-first
# Argos Translate's own search has another length penalty.
answers argos argos-float32.json argos 24 "--beam-size 4 --length-penalty=0.2 $length" \
    '--no-end-first --tolerance 1'

# 8 bits: integers are the same, sums of floats beside them are not, and a number that is rounded the other
# way changes scores: long translations part at ties, by processor. One scale for each row of activations, as
# in CTranslate2.
ties='--no-end-first --tolerance 0.01 --tie 0.1'
# shellcheck disable=SC2086
expect 0 "$attn" convert "$foreign/opus-ct2-int8" $pieces -o "$model"
answers opus-ct2-int8 opus-ct2-int8.json greedy 18,19,20 "--beam-size 1 $length" "$ties"

# Argos' package: the beams of line 14 and, by processor, of line 27 differ. The package in its old form, with
# the SentencePiece model of the new one, holds the same model.
rounded='--no-end-first --tolerance 0.01 --allow 3'
package=$foreign/translate-en_fr-1_0.argosmodel
expect 0 "$attn" convert "$package" -o "$model"
answers argos-int8 argos-int8.json greedy '' "--beam-size 1 $length" "$ties"
answers argos-int8 argos-int8.json beam4 '' "--beam-size 4 $length" "$rounded"
answers argos-int8 argos-int8.json argos '' "--beam-size 4 --length-penalty=0.2 $length" "$rounded"
expect 3 "$attn" convert "$foreign/argos-old.zip" -o "$TMP/none.safetensors"
says "it has no SentencePiece model"
says "hint: name the SentencePiece model that it was trained with: --sentencepiece FILE"
"$python" -m zipfile -e "$package" "$TMP/package"
pieces=$(echo "$TMP"/package/*/sentencepiece.model)
expect 0 "$attn" convert "$foreign/argos-old.zip" --sentencepiece "$pieces" -o "$model"
answers argos-old argos-old.json greedy '' "--beam-size 1 $length" "$ties"
answers argos-old argos-old.json beam4 '' "--beam-size 4 $length" "$rounded"

# Firefox: Marian rounds activations with one scale for all rows. On odd lines its own 8 bits give another
# translation than its floats 10 times, and 11 times with the shortlist. Ours do so at most as often.
expect 0 "$attn" convert "$foreign/firefox" -o "$model"
for arithmetic in int8 rounded; do
    file=firefox-$arithmetic.marian.json
    answers firefox-int8 "$file" greedy '' "--beam-size 1" '--tolerance 0.05 --allow 10'
    answers firefox-int8 "$file" shortlist '' "--beam-size 1 --shortlist 1000" '--tolerance 0.05 --allow 11'
done

# 8 bits stay 8 bits.
expect 0 "$attn" convert "$foreign/firefox" -o "$TMP/bytes.safetensors"
expect 0 "$attn" inspect "$TMP/bytes.safetensors"
grep -q int8 "$TMP/out" || fail "firefox: the weights are not int8"
grep -q '    autoreg  *ssru$' "$TMP/out" || fail "inspect lacks an option of the model"
! grep -E ' (cell|bpe_merges|width|max_positions|readout) ' "$TMP/out" ||
    fail "inspect shows options that the model does not have"
# A folder of the torch file alone reads the same weights, rounded to 16 bits.
mkdir "$TMP/torch"
hf=$foreign/opus-hf
cp "$hf/config.json" "$hf"/*.spm "$hf/vocab.json" "$hf/pytorch_model.bin" "$TMP/torch"
expect 0 "$attn" convert "$TMP/torch" -o "$TMP/model.safetensors"
