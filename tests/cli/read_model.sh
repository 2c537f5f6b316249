# read_model.sh - scripts/read_model.py, written from docs/model-format.md alone, translates
# 100 sentences like the program: a recurrent model and a Transformer.
set -eu
# not sanitized
. tests/cli/tiny_model.inc
python=${PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || {
    echo "skipped: no python3 with NumPy"
    exit 77
}
unset OMP_NUM_THREADS
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS

{
    cut -f 1 data/chapter.tsv
    cut -f 1 data/test.tsv | head -n 88
    printf '%s\n' "L'été, c'est déjà fini…" "i'm home ." "" "two  spaces and   many" 'a_b c </w> <unk>' \
        "Go!Run." \
        "ÀÉÎ straße ΟΔΟΣ" "12,345.67 (x) 'tis" "e$(printf '\314\201')"
} | head -n 100 >"$TMP/input"
# Each character stands in the vocabulary: the program copies words with others, the file alone does not.
paste "$TMP/input" "$TMP/input" | grep -v '^[[:space:]]*$' >"$TMP/extra.tsv"

compare() { # NAME OPTION...
    name=$1
    shift
    set -- --set train.epochs=25 --set model.embedding=24 --set model.hidden=32 "$@"
    tiny_model "$name" "$@"
    model=$TMP/$name/best.safetensors
    expect 0 "$attn" translate --quiet --threads 1 --beam-size 1 --model "$model" "$TMP/input"
    mv "$TMP/out" "$TMP/expected"
    expect 0 "$python" scripts/read_model.py "$model" <"$TMP/input"
    same "$name: $*" "$TMP/expected" "$TMP/out"
    [ "$(sort -u "$TMP/expected" | wc -l)" -ge 10 ] || fail "$name: its translations are too much alike"
}
compare recurrent --set model.cell=lstm
compare transformer --set model.encoder.style=self_attention --set model.decoder.style=transformer \
    --set model.attention=scaled_dot --set model.embedding=32

# It names options that it does not support.
tiny_model other --set train.max_updates=1 --overwrite --set model.encoder.style=conv
expect 1 "$python" scripts/read_model.py "$TMP/other/best.safetensors" <"$TMP/input"
says "reads no models with model.encoder.style = "
