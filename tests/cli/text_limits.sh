#!/bin/sh
# text_limits.sh - commands refuse too long lines, and commands that store a text refuse too large texts, with
# bounded memory.
# alone
set -eu
. tests/cli/tiny_model.inc

model=tests/golden/models/0.1.0-recurrent.safetensors
echo 'go .' >"$TMP/line"
printf 'go .\tva !\n' >"$TMP/pair"
echo '0 ||| va ! ||| ' >"$TMP/nbest"
{ yes abcdefg | head -n 8100000 | tr '\n' ' ' && printf '\tva !\n'; } | gzip >"$TMP/long"
{ cat "$TMP/line" && yes '' | head -n 4000000; } | gzip >"$TMP/many"
yes abcdefg | head -n 200000 | tr '\n' ' ' >"$TMP/wide"
echo >>"$TMP/wide"
gzip <"$TMP/wide" >"$TMP/member" # 1.6 MB; a file of many members is one text
i=0
while [ $i -lt 161 ]; do
    cat "$TMP/member"
    i=$((i + 1))
done >"$TMP/large"

# refuse WHAT MESSAGE COMMAND...
refuse() {
    what=$1
    message=$2
    shift 2
    if [ "$MEMORY" ]; then
        # shellcheck disable=SC2016  # the shell inside reads its own arguments
        expect 3 sh -c 'ulimit -v 3000000 && exec "$@"' sh "$attn" "$@"
    else
        expect 3 "$attn" "$@"
    fi
    says "$message"
    [ ! -s "$TMP/out" ] || fail "$what prints something"
}
MEMORY=
if sh -c 'ulimit -v 3000000 && exec "$@"' sh "$attn" --version >"$TMP/out" 2>&1; then MEMORY=1; fi

# ---- a long line -------------------------------------------------------------------------------------------

long="line 1 is longer than 64 MB"
refuse bleu "long': $long" bleu "$TMP/long" -i "$TMP/line"
refuse bleu "long': $long" bleu "$TMP/line" -i "$TMP/long"
refuse bleu "long': $long" bleu "$TMP/long" -nr 2 -i "$TMP/line"
expect 3 "$attn" bleu "$TMP/line" <"$TMP/long"
says "'standard input': $long"
refuse translate "long': $long" translate -m $model "$TMP/long"
refuse --reference "long': $long" translate -m $model --reference "$TMP/long" "$TMP/line"
refuse --prefix-file "long': $long" translate -m $model --prefix-file "$TMP/long" "$TMP/line"
refuse --glossary "long': $long" translate -m $model --glossary "$TMP/long" "$TMP/line"
refuse score "long': $long" score -m $model "$TMP/long"
refuse score "long': $long" score -m $model "$TMP/line" "$TMP/long"
refuse --n-best "long': $long" score -m $model --n-best="$TMP/nbest" "$TMP/long"
refuse inspect "long': $long" inspect "$TMP/long"
refuse train "long': $long" train "$TMP/long" --run "$TMP/run" --languages en-fr
expect 3 "$attn" heatmap -m $model <"$TMP/long"
says "'standard input': $long"

# ---- too many lines, and too many bytes --------------------------------------------------------------------

for text in "many' has more than 4,000,000 lines" "large' is larger than 256 MB"; do
    file=$TMP/${text%%\'*}
    refuse bleu "$text" bleu "$file" -i "$TMP/line"
    refuse bleu "$text" bleu "$TMP/line" -i "$file"
    refuse --reference "$text" translate -m $model --reference "$file" "$TMP/line"
    refuse --n-best "$text" score -m $model --n-best="$TMP/nbest" "$file"
done
expect 3 "$attn" heatmap -m $model <"$TMP/many"
says "'standard input' has more than 4,000,000 lines"
{ printf 'a\tb\n' && yes '' | head -n 4000000; } >"$TMP/terms"
refuse --glossary "terms' has more than 4,000,000 lines" \
    translate -m $model --glossary "$TMP/terms" "$TMP/line"
if [ -c /dev/zero ]; then
    refuse bleu "'/dev/zero' is larger than 256 MB" bleu /dev/zero -i "$TMP/line"
    refuse --reference "'/dev/zero' is larger than" translate -m $model --reference /dev/zero "$TMP/line"
    refuse --glossary "'/dev/zero': line 1 is longer" translate -m $model --glossary /dev/zero "$TMP/line"
fi
