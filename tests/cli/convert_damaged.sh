#!/bin/sh
# convert_damaged.sh - attn-mt convert of damaged and hostile models of other programs: each is refused with
# a message, and no file is written. The messages are those of docs/public-models.md.
set -eu
. tests/cli/tiny_model.inc
python=${PYTHON:-python3}
command -v "$python" >/dev/null || {
    echo "skipped: no python3, which writes the models"
    exit 77
}
mkdir "$TMP/models"
"$python" tests/cli/damaged_models.py "$TMP/models" >"$TMP/list"
output=$TMP/output.safetensors
tab=$(printf '\t')

{
    echo "| input | message |"
    echo "| --- | --- |"
} >"$TMP/rows"
while IFS=$tab read -r name what; do
    model=$TMP/models/$name
    if [ "$what" = good ]; then # what is not damaged is read
        expect 0 "$attn" convert "$model" -o "$output"
        rm "$output"
        continue
    fi
    expect 3 timeout 60 "$attn" convert "$model" -o "$output"
    [ ! -e "$output" ] || fail "$name: a file was written"
    says "cannot read '$model' as a model: "
    message=$(sed -n "s/^attn-mt: cannot read '.*' as a model: //p" "$TMP/err")
    echo "| $what | \`$message\` |" >>"$TMP/rows"
done <"$TMP/list"
[ "$(wc -l <"$TMP/rows")" -ge 32 ] || fail "fewer than 30 damaged models"
sed -n '/^| input | message |/,/^$/{/^$/!p}' docs/public-models.md >"$TMP/documented"
same "the table of docs/public-models.md" "$TMP/rows" "$TMP/documented"
