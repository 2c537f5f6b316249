# read_model.sh - scripts/read_model.py, which knows a model file from docs/model-format.md alone, translates
# 100 sentences like the program: recurrent models and Transformer, as configs/ has them.
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
compare dot $(score dot) $(style bahdanau)
compare general $(score general) $apart --set model.tie=none --set text.normalize=nfkc
compare words $(score scaled_dot) $(style bahdanau) --set text.tokenizer=word --set text.lowercase=true $lstm
compare concat $(score concat) $(style bahdanau) --set model.decoder.layers=2 --set model.attention_size=20 \
    --set model.decoder.readout=linear --set model.embedding=32 --set text.lowercase=true
transformer="$(style transformer) $(score scaled_dot) --set model.encoder.style=self_attention \
    --set model.embedding=32"
compare sinusoidal $transformer --set model.encoder.layers=2 --set model.decoder.layers=2
compare narrow $transformer --set model.tie=none --set model.embedding=24

# A head whose rows of the output are 0 adds nothing: the program's scores change, and the script, which reads
# the file without its digests, agrees.
model=$TMP/sinusoidal/best.safetensors
expect 0 "$python" examples/without_head.py decoder.1.cross 2 "$model" "$TMP/without"
expect 0 "$attn" inspect --tensor decoder.1.cross.output.weight "$TMP/without"
awk '{ for (i = 1; i <= NF; i++) if (($i == 0) != (NR > 8 && NR <= 16)) bad = 1 }
    END { exit bad || NR != 32 }' "$TMP/out" || fail "rows of the second head: $(cat "$TMP/out")"
expect 0 "$attn" translate --quiet --threads 1 --beam-size 1 --model "$TMP/without" "$TMP/input"
mv "$TMP/out" "$TMP/wanted"
expect 0 "$python" scripts/read_model.py "$TMP/without" <"$TMP/input"
same "without a head" "$TMP/wanted" "$TMP/out"
expect 0 "$attn" convert "$model" -o "$TMP/small"
expect 0 "$python" examples/without_head.py encoder.0.self 4 "$TMP/small" "$TMP/without"
expect 0 "$attn" translate --quiet --threads 1 --model "$TMP/without" "$TMP/input"
expect 1 "$python" examples/without_head.py decoder.1.cross 5 "$model" "$TMP/without"
says "no head 5 of decoder.1.cross"

# What it does not read it names.
for set in model.encoder.style=conv model.decoder.style=luong model.layer_norm=true model.attention=cosine \
    text.bpe_marker=suffix; do
    tiny_model other --set train.max_updates=1 --overwrite --set "$set"
    expect 1 "$python" scripts/read_model.py "$TMP/other/best.safetensors" <"$TMP/input"
    says "reads no models with ${set%%=*} = "
done
