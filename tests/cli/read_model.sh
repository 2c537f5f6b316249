# read_model.sh - scripts/read_model.py, which knows a model file from docs/model-format.md alone, translates
# 100 sentences like the program: recurrent models and Transformer, as most of configs/ has them.
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
    printf '%s\n' "L'été, c'est déjà fini…" "i'm home ." "" "  two  spaces	and a tab " 'a_b ▁c </w> <unk>' \
        "Go!Run." \
        "ÀÉÎ straße ΟΔΟΣ" "12,345.67 (x) 'tis" "e$(printf '\314\201')"
} | head -n 100 >"$TMP/input"

compare() { # NAME OPTION...
    name=$1
    shift
    set -- --set train.epochs=25 --set model.embedding=24 --set model.hidden=32 "$@"
    tiny_model "$name" "$@"
    model=$TMP/$name/best.safetensors
    expect 0 "$attn" translate --quiet --threads 1 --beam-size 1 --model "$model" "$TMP/input"
    mv "$TMP/out" "$TMP/wanted"
    expect 0 "$python" scripts/read_model.py "$model" <"$TMP/input"
    same "$name: $*" "$TMP/wanted" "$TMP/out"
    [ "$(sort -u "$TMP/wanted" | wc -l)" -ge 10 ] || fail "$name: its translations are too much alike"
}
score() { echo "--set model.attention=$1"; }
style() { echo "--set model.decoder.style=$1"; }
apart="--set text.joint=false --set model.tie=target"
lstm="--set model.cell=lstm"

compare additive $lstm
compare gru $apart --set model.encoder.layers=2 --set model.decoder.layers=2 --set train.epochs=60 \
    --set model.encoder.bidirectional=false --set model.decoder.start=final
compare dot $(score dot) $(style bahdanau) --set model.decoder.bidirectional=true
compare general $(score general) $apart --set model.tie=none --set text.normalize=nfkc
compare words $(score scaled_dot) $(style bahdanau) --set text.tokenizer=word --set text.lowercase=true $lstm
compare concat $(score concat) $(style bahdanau) --set model.decoder.layers=2 --set model.attention_size=20 \
    --set model.decoder.readout=linear --set model.embedding=32 --set text.lowercase=true
transformer="$(style transformer) $(score scaled_dot) --set model.encoder.style=self_attention \
    --set model.embedding=32"
compare sinusoidal $transformer --set model.encoder.layers=2 --set model.decoder.layers=2
compare narrow $transformer --set model.tie=none --set model.embedding=24

# What it does not read it names.
for set in model.encoder.style=conv model.decoder.style=luong model.layer_norm=true model.attention=cosine \
    text.bpe_marker=suffix; do
    tiny_model other --set train.max_updates=1 --overwrite --set "$set"
    expect 1 "$python" scripts/read_model.py "$TMP/other/best.safetensors" <"$TMP/input"
    says "reads no models with ${set%%=*} = "
done
