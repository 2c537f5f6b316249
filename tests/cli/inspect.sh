#!/bin/sh
# inspect.sh - attn-mt inspect of a model file.
set -eu
. tests/cli/tiny_model.inc
tiny_model one --set model.hidden=24 --set train.epochs=1
tiny_model apart --set text.joint=false --set model.tie=target --set train.epochs=1
tiny_model words --set text.tokenizer=word --set train.epochs=1
model=$TMP/one/best.safetensors

expect 0 "$attn" inspect "$model"
for text in 'hidden  *24$' 'tokenizer  *bpe$' 'joint  *[0-9,]* tokens' \
    'encoder.*input.weight  *[0-9]* x [0-9]*  *[0-9,]*$' \
    'valid_bleu' 'all  *[0-9,]*  (float32, [0-9.]* [kM]B)$'; do
    grep -q "$text" "$TMP/out" || fail "no '$text' in $(cat "$TMP/out")"
done
# The last line of the table is the sum of its rows.
sed -n '/^parameters/,$p' "$TMP/out" | tr -d , |
    awk '$3 == "x" { sum += $5; n++ } $1 == "all" { if (n < 10 || sum != $2) exit 1; found = 1 }
        END { exit !found }' ||
    fail "parameters do not add up: $(cat "$TMP/out")"

expect 0 "$attn" inspect --json "$model"
if command -v python3 >/dev/null; then
    python3 - "$TMP/out" <<'END' || fail "JSON: $(cat "$TMP/out")"
import json, sys
model = json.load(open(sys.argv[1]))
assert model["config"]["model"]["hidden"] == 24
assert model["parameters"] == sum(t["shape"][0] * t["shape"][1] for t in model["tensors"]) > 1000
assert model["source_vocabulary"] == model["target_vocabulary"] and model["joint"] is True
assert model["provenance"]["update"] > 0
END
fi

expect 0 "$attn" inspect --json --vocab "$model"
mv "$TMP/out" "$TMP/vocab.json"
expect 0 "$attn" inspect --json --tensor decoder.attention.query.weight "$model"
mv "$TMP/out" "$TMP/tensor.json"
if command -v python3 >/dev/null; then
    "$attn" inspect --vocab "$model" >"$TMP/vocab"
    "$attn" inspect --tensor decoder.attention.query.weight "$model" >"$TMP/tensor"
    python3 - "$TMP" <<'END' || fail "--json --vocab or --json --tensor"
import json, sys
lines = lambda name: [line.rstrip("\n").split("\t") for line in open(sys.argv[1] + name, encoding="utf-8")]
tokens, tensor = (json.load(open(sys.argv[1] + name)) for name in ["/vocab.json", "/tensor.json"])
assert [[str(i), s, t] for i, (s, t) in enumerate(zip(tokens["source"], tokens["target"]))] == lines("/vocab")
assert tensor["name"] == "decoder.attention.query.weight"
assert tensor["rows"] == [[float(x) for x in line] for line in lines("/tensor")]
END
fi

expect 0 "$attn" inspect --vocab "$model"
printf '0\t<pad>\t<pad>\n1\t<unk>\t<unk>\n2\t<s>\t<s>\n3\t</s>\t</s>\n' >"$TMP/specials"
head -n 4 "$TMP/out" >"$TMP/first"
same "special tokens" "$TMP/specials" "$TMP/first"
awk -F '\t' 'NF != 3 || $1 != NR - 1 { exit 1 } END { if (NR < 50) exit 1 }' "$TMP/out" || fail "--vocab"

expect 0 "$attn" inspect --tensor decoder.attention.query.weight "$model"
awk -F '\t' 'NF != 24 { exit 1 } END { exit NR != 24 }' "$TMP/out" || fail "--tensor: $(head -n 2 "$TMP/out")"
expect 2 "$attn" inspect --tensor decoder.attention.query.wieght "$model"
says "did you mean 'decoder.attention.query.weight'?"
expect 2 "$attn" inspect --tensor x "$TMP/tiny.tsv"
says "--tensor needs a model"
expect 2 "$attn" inspect --vocab --tensor x "$model"
says "--vocab and --tensor cannot be combined"

expect 0 "$attn" inspect --codes "$TMP/codes" "$model"
[ "$(head -n 1 "$TMP/codes")" = "#version: 0.2" ] || fail "codes: $(head -n 3 "$TMP/codes")"
codes() { "$attn" train --config "$TMP/tiny.json" --set text.bpe_codes="$TMP/codes" --dump-config "$@"; }
expect 0 codes --set text.bpe_marker=suffix
says "bpe_marker=suffix has no effect: the merges in '$TMP/codes' are of text.bpe_marker=prefix"
expect 0 codes --set text.bpe_marker=prefix
[ ! -s "$TMP/err" ] || fail "the marker of the merges: $(cat "$TMP/err")"
awk 'NR > 1 && NF != 2 { exit 1 } END { if (NR < 20) exit 1 }' "$TMP/codes" || fail "codes"
expect 0 "$attn" inspect --codes "$TMP/codes" "$TMP/apart/best.safetensors"
[ -s "$TMP/codes.source" ] && [ -s "$TMP/codes.target" ] || fail "codes of separate vocabularies"
cmp -s "$TMP/codes.source" "$TMP/codes.target" && fail "two languages, the same merges"
cp "$TMP/apart/best.safetensors" "$TMP/model.source"
expect 2 "$attn" inspect --codes "$TMP/model" "$TMP/model.source"
cmp -s "$TMP/apart/best.safetensors" "$TMP/model.source" || fail "the model is gone"
expect 2 "$attn" inspect --codes - "$TMP/apart/best.safetensors"
says "two vocabularies cannot both go to standard output"
expect 2 "$attn" inspect --codes "$TMP/none" "$TMP/words/best.safetensors"
says "no byte-pair merges"

expect 2 "$attn" inspect
says "no file given"
expect 2 "$attn" inspect "$model" "$model"
says "more than one file"
expect 1 "$attn" inspect "$TMP/nothing"
says "nothing"
for command in 'translate -m' 'score -m' 'heatmap -m'; do
    # shellcheck disable=SC2086  # words
    expect 3 "$attn" $command "$TMP/tiny.tsv" data/test.tsv
    says "'$TMP/tiny.tsv': not a model file: it looks like text"
    says "hint: models are the best.safetensors and last.safetensors of a run directory"
done
gzip -c "$TMP/tiny.tsv" >"$TMP/tiny.gz"
expect 3 "$attn" translate -m "$TMP/tiny.gz"
says "hint: models are the best.safetensors"
expect 3 "$attn" translate -m "$TMP"
says "hint: a model is a file"
head -c 1000 "$model" >"$TMP/cut"
expect 3 "$attn" inspect "$TMP/cut"
bytes=$(wc -c <"$model")
head -c $((bytes - 100)) "$model" >"$TMP/cut"
expect 3 "$attn" inspect "$TMP/cut"
says "hint: is the file incomplete? copy it again"
if [ -e /dev/full ]; then
    status=0
    "$attn" inspect "$model" >/dev/full 2>"$TMP/err" || status=$?
    [ $status -eq 1 ] || fail "status $status on a full disk"
fi
