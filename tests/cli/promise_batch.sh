# promise_batch.sh - a translation does not depend on its batch, on the number of threads, or on other lines:
# a text that is split, translated in parts, and joined gives the same bytes.
set -eu
. tests/cli/tiny_model.inc
tiny_model model
model=$TMP/model/best.safetensors
{
    cut -f 1 data/valid.tsv | head -n 90
    printf '\n \t \nhi \377!\nzzqx go . hi ! <b>go</b> {0} .\n'
    yes 'go . hi !' | head -n 60 | tr '\n' ' '
    printf '\n'
} >"$TMP/text"

# Batches and threads.
translate() { "$attn" translate -m "$model" --quiet "$@" "$TMP/text"; }
for precision in float32 bf16 int8; do
    translate --precision $precision --threads 1 >"$TMP/base"
    translate --precision $precision --threads 2 --mini-batch 1 >"$TMP/out"
    same "$precision, batches of 1, 2 threads" "$TMP/base" "$TMP/out"
    translate --precision $precision --threads 2 --mini-batch 64 --maxi-batch 1 >"$TMP/out"
    same "$precision, batches of 64" "$TMP/base" "$TMP/out"
done

# in_parts WHAT OPTION...: three parts of different sizes, two processes at a time
in_parts() {
    what=$1
    shift
    rm -rf "$TMP/parts"
    mkdir "$TMP/parts"
    "$attn" translate -m "$model" --quiet "$@" "$TMP/text" -o "$TMP/whole"
    split -l 37 "$TMP/text" "$TMP/parts/"
    printf '%s\n' "$TMP"/parts/?? |
        xargs -P 2 -I{} "$attn" translate -m "$model" --quiet "$@" --threads 1 -o {}.out {}
    cat "$TMP"/parts/??.out >"$TMP/joined"
    [ "$(ls "$TMP"/parts/??.out | wc -l)" -eq 3 ] || fail "$what: $(ls "$TMP/parts")"
    cmp "$TMP/whole" "$TMP/joined" || fail "$what: the parts have other translations"
}

in_parts "beam"
in_parts "greedy" -b 1
in_parts "8 bits" --precision int8
in_parts "small batches" --mini-batch 3 --maxi-batch 2
in_parts "scores of words" --json --alternatives 2 --confidence
in_parts "paragraphs" --split --tags
