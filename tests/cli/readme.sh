#!/bin/sh
# readme.sh - every attn-mt command that README.md shows is run, in the order it is shown, on small files.
set -eu
root=$(pwd)
program=${ATTN_MT:-build/attn-mt}
case $program in /*) ;; *) program=$root/$program ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/build" "$work/configs"
ln -s "$program" "$work/build/attn-mt"
ln -s "$root/data" "$work/data"
# The same recipes, over in seconds.
for config in "$root"/configs/*.json; do
    sed -e 's/"epochs": [0-9]*/"epochs": 2/' -e 's/"embedding": [0-9]*/"embedding": 32/' \
        -e 's/"hidden": [0-9]*/"hidden": 32/' "$config" >"$work/configs/${config##*/}"
done
cd "$work"
head -n 300 data/train.tsv >my.tsv
head -n 20 data/valid.tsv >my-dev.tsv
cp my-dev.tsv noisy.tsv
printf 'go\tva\n' >terms.tsv
cut -f 1 my-dev.tsv | tee test.en >input.txt
cut -f 2 my-dev.tsv | tee test.fr >reference.txt

# Lines of code blocks, without the trailing comment.
sed -n 's/^    \(build\/attn-mt .*\)$/\1/p' "$root/README.md" | sed 's/  *# .*$//' >commands
[ "$(wc -l <commands)" -ge 8 ] || {
    echo "README.md shows only $(wc -l <commands) commands"
    exit 1
}
status=0
while IFS= read -r command; do
    echo "\$ $command"
    if ! sh -c "$command" </dev/null >out 2>err; then
        echo "failed:"
        cat err
        status=1
    fi
    # what later commands refer to
    for copy in a b; do
        [ ! -f runs/mine/best.safetensors ] || cp runs/mine/best.safetensors $copy.safetensors
    done
done <commands
[ "$(wc -l <output.txt)" -eq 20 ] || {
    echo "translate made $(wc -l <output.txt) lines of 20"
    exit 1
}
exit $status
