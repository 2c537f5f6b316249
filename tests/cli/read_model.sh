# read_model.sh - scripts/read_model.py, which knows a model file from docs/model-format.md alone, translates
# 100 sentences like the program: each decoder, each attention score, each way to cut text.
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
compare dot $(score dot) $(style bahdanau) --set model.layer_norm=true
compare scaled $(score scaled_dot) $(style luong) --set model.decoder.input_feeding=true $lstm \
    --set model.layer_norm=true --set text.bpe_marker=suffix
compare general $(score general) $apart --set model.tie=none --set text.normalize=nfkc
compare cosine $(score cosine) $(style luong) $apart --set model.decoder.readout=linear \
    --set model.embedding=32
compare distance $(score distance) $(style bahdanau) --set text.tokenizer=word --set text.lowercase=true $lstm
compare location $(score location) --set model.residual=true --set model.encoder.layers=2 \
    --set model.decoder.layers=2 --set model.encoder.bidirectional=false --set model.decoder.start=final
compare concat $(score concat) $(style bahdanau) --set model.decoder.layers=2 --set model.attention_size=20 \
    --set model.decoder.readout=linear --set model.embedding=32 --set text.bpe_marker=suffix \
    --set text.lowercase=true
own="--set model.decoder.self_attention=true"
compare none $(score none) $own
compare bare $(score bare_cosine) $(style luong) $own $lstm
compare sum $(score sum) $(style bahdanau) --set model.encoder.bidirectional=false
transformer="$(style transformer) $(score scaled_dot) --set model.encoder.style=self_attention \
    --set model.embedding=32"
compare sinusoidal $transformer --set model.encoder.layers=2 --set model.decoder.layers=2
compare relative $transformer --set model.positions=relative --set model.max_relative_position=3
compare learned $transformer --set model.positions=learned --set model.norm=post --set model.max_positions=9 \
    --set model.tie=none --set model.embedding=24
